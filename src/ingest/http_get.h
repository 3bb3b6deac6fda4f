// A GET over HTTP or HTTPS, for the servers that answer with text.
// Thread safety: any thread.
#pragma once

#include <functional>
#include <string>

#include "base/diagnostic.h"

namespace tare {

// What answers a URL with its body: the network, or a test's recording.
using HttpGet = std::function<Result<std::string>(const std::string& url)>;

// Over the network, waiting at most `timeout_s` for each answer; `bearer_token` goes along where it is not empty.
// Errors: no such host, refused, timed out, a status that is not 200 (with the first line of what the server said).
HttpGet http_getter(int timeout_s, std::string bearer_token);

// "http://prom.lab:9090/prefix" -> {"http://prom.lab:9090", "/prefix"}; the second is empty where there is none.
struct UrlParts {
  std::string server, path;
};
Result<UrlParts> split_url(const std::string& url);

// Percent-encoding of all that is not unreserved.
std::string url_encoded(std::string_view text);

}  // namespace tare
