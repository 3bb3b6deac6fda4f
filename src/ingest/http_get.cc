#include "ingest/http_get.h"

// What Debian's library was built with; it decides the layout of its classes.
#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT

#include <fmt/format.h>
#include <httplib.h>

#include "base/text.h"

namespace tare {
namespace {

constexpr std::size_t kShownAnswer = 160;

Diagnostics refused(const std::string& server, const std::string& why, const std::string& help) {
  Diagnostic diagnostic = make_error("http-failed", why, help);
  diagnostic.file = server;
  return {std::move(diagnostic)};
}

std::string first_line(const std::string& body) { return body.substr(0, std::min(body.find('\n'), kShownAnswer)); }

}  // namespace

Result<UrlParts> split_url(const std::string& url) {
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  const std::size_t host = url.find("//") + 2;
  if (!known || host >= url.size() || url[host] == '/') {
    return fail("bad-url", fmt::format("{} is no address of a server", in_quotes(url)),
                "write it as http://HOST:PORT or https://HOST/PREFIX");
  }
  const std::size_t slash = url.find('/', host);
  UrlParts parts{url.substr(0, slash), slash > url.size() ? std::string() : url.substr(slash)};
  while (!parts.path.empty() && parts.path.back() == '/') parts.path.pop_back();
  return parts;
}

std::string url_encoded(std::string_view text) {
  static constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) < kPlain.size()) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

HttpGet http_getter(int timeout_s, std::string bearer_token) {
  return [timeout_s, token = std::move(bearer_token)](const std::string& url) -> Result<std::string> {
    const Result<UrlParts> parts = split_url(url);
    if (!parts) return tl::unexpected(parts.error());
    httplib::Client client(parts->server);
    client.set_connection_timeout(timeout_s);
    client.set_read_timeout(timeout_s);
    client.set_follow_location(true);
    if (!token.empty()) client.set_bearer_token_auth(token);
    const httplib::Result answer = client.Get(parts->path.empty() ? "/" : parts->path);
    if (!answer) {
      return tl::unexpected(refused(parts->server, "no answer: " + httplib::to_string(answer.error()),
                                    "check that the server runs and can be reached from here"));
    }
    if (answer->status != 200) {
      const bool locked = answer->status == 401 || answer->status == 403;
      return tl::unexpected(
          refused(parts->server, fmt::format("status {}: {}", answer->status, in_quotes(first_line(answer->body))),
                  locked ? "set PROMETHEUS_TOKEN to a token that may read" : "check the address and its prefix"));
    }
    return answer->body;
  };
}

}  // namespace tare
