#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/fio_values.h"
#include "read_text.h"

namespace tare {
namespace {

const FactRecord& item(const FactRecord& facts, const char* list, std::size_t at) {
  static const FactRecord none;
  const std::vector<Fact>* const found = facts.find_list(list);
  return found == nullptr || found->size() <= at ? none : *(*found)[at].as_record();
}

const std::string kReport =
    "seq: (g=0): rw=read, bs=(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB, ioengine=io_uring, iodepth=16\n"
    "...\n"
    "fio-3.36\n"
    "Starting 4 processes\n"
    "\n"
    "seq: (groupid=0, jobs=4): err= 0: pid=4711: Tue Mar  3 10:11:12 2026\n"
    "  read: IOPS=48.2k, BW=6025MiB/s (6318MB/s)(353GiB/60002msec)\n"
    "    slat (nsec): min=900, max=81k, avg=1800.50, stdev=40.25\n"
    "    clat (usec): min=80, max=9001, avg=1320.75, stdev=210.00\n"
    "    clat percentiles (usec):\n"
    "     |  1.00th=[  500], 50.00th=[ 1300], 99.00th=[ 2000],\n"
    "     | 99.50th=[ 2300]\n"
    "   bw (  MiB/s): min= 5800, max= 6200, per=100.00%, avg=6030.25, stdev=12.50, samples=476\n"
    "   iops        : min=46400, max=49600, avg=48242.00, stdev=100.00, samples=476\n"
    "  lat (usec)   : 500=1.00%, 750=4.00%, 1000=5.00%\n"
    "  lat (msec)   : 2=89.00%, 4=0.90%, 10=0.10%\n"
    "  cpu          : usr=1.50%, sys=8.25%, ctx=1000, majf=0, minf=60\n"
    "  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=100.0%, 32=0.0%, >=64=0.0%\n"
    "     issued rwts: total=2891880,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    "     latency   : target=0, window=0, percentile=100.00%, depth=16\n"
    "\n"
    "Run status group 0 (all jobs):\n"
    "   READ: bw=6025MiB/s (6318MB/s), 6025MiB/s-6025MiB/s (6318MB/s-6318MB/s), io=353GiB (379GB), "
    "run=60002-60002msec\n"
    "\n"
    "Disk stats (read/write):\n"
    "  nvme7n1: ios=2890000/12, merge=0/1, ticks=3800000/4, in_queue=3800004, util=99.20%\n";

TEST(Fio, ReadsTheReport) {
  const FileFacts file = read_text(kReport);
  ASSERT_EQ(kind_of(file), "fio");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("fio_version"), "fio-3.36");
  EXPECT_EQ(facts.text("rw"), "read");
  EXPECT_EQ(facts.text("bs"), "128KiB");
  EXPECT_EQ(facts.integer("iodepth"), 16);
  EXPECT_EQ(facts.integer("numjobs"), 4);
  EXPECT_EQ(facts.integer("report_count"), 1);
  const FactRecord& job = item(facts, "jobs", 0);
  EXPECT_EQ(job.line, 6);
  EXPECT_EQ(job.integer("pid"), 4711);
  EXPECT_EQ(job.text("time"), "Tue Mar  3 10:11:12 2026");
  const FactRecord& read = *job.find_record("read");
  EXPECT_DOUBLE_EQ(*read.number("iops"), 48200);
  EXPECT_DOUBLE_EQ(*read.number("bw_mib_per_s"), 6025);
  EXPECT_DOUBLE_EQ(*read.number("bw_mb_per_s"), 6318);
  EXPECT_DOUBLE_EQ(*read.number("bw_bytes_per_s"), 6025.0 * 1024 * 1024);
  EXPECT_EQ(read.integer("runtime_ms"), 60002);
  EXPECT_DOUBLE_EQ(*read.find_record("slat")->number("max_ns"), 81000);
  EXPECT_DOUBLE_EQ(*read.find_record("clat")->number("avg_us"), 1320.75);
  EXPECT_EQ(read.find_record("clat")->find_record("percentiles_us")->integer("p99_5"), 2300);
  EXPECT_DOUBLE_EQ(*read.find_record("bw")->number("avg_mib_per_s"), 6030.25);
  EXPECT_DOUBLE_EQ(*job.find_record("latency_share_pct")->number("le_2ms"), 89);
  EXPECT_EQ(job.find_record("issued")->integer("total_read"), 2891880);
}

TEST(Fio, GroupsAndDisks) {
  const FileFacts file = read_text(kReport);
  const FactRecord& group = *item(facts_of(file), "groups", 0).find_record("read");
  EXPECT_DOUBLE_EQ(*group.number("bw_min_mib_per_s"), 6025);
  EXPECT_EQ(group.integer("runtime_max_ms"), 60002);
  const FactRecord& disk = item(facts_of(file), "disks", 0);
  EXPECT_EQ(disk.text("name"), "nvme7n1");
  EXPECT_EQ(disk.integer("write_ios"), 12);
  EXPECT_DOUBLE_EQ(*disk.number("util_pct"), 99.2);
}

TEST(Fio, ReportsOfOneJobAreOneRun) {
  const std::string again = kReport.substr(kReport.find("seq: (groupid"));
  const FileFacts file = read_text(kReport + "\n" + again);
  EXPECT_EQ(facts_of(file).integer("run_count"), 1);
  EXPECT_EQ(facts_of(file).integer("report_count"), 2);
  ASSERT_FALSE(file.readings.front().reading.notes().empty());
}

TEST(Fio, AnotherHeadIsAnotherRun) {
  const FileFacts file = read_text(kReport + kReport);
  EXPECT_EQ(facts_of(file).integer("run_count"), 2);
  EXPECT_EQ(facts_of(file).find_list("runs")->size(), 2u);
}

TEST(Fio, SecondVersionCountsInPowersOfTwo) {
  const FileFacts file = read_text(
      "w: (g=0): rw=write, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\nfio-2.16\nStarting 1 process\n"
      "w: (groupid=0, jobs=1): err= 0: pid=99: Tue Mar  3 10:11:12 2026\n"
      "  write: io=1024.0MB, bw=2048KB/s, iops=512, runt=  5000msec\n"
      "     issued    : total=r=0/w=262144/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0\n"
      "Run status group 0 (all jobs):\n"
      "  WRITE: io=1024.0MB, aggrb=2048KB/s, minb=2048KB/s, maxb=2048KB/s, mint=5000msec, maxt=5000msec\n");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("bs"), "4K");
  const FactRecord& write = *item(facts, "jobs", 0).find_record("write");
  EXPECT_DOUBLE_EQ(*write.number("bw_kb_per_s"), 2048);
  EXPECT_DOUBLE_EQ(*write.number("bw_bytes_per_s"), 2048 * 1024.0);
  EXPECT_EQ(item(facts, "jobs", 0).find_record("issued")->integer("total_write"), 262144);
  EXPECT_EQ(item(facts, "groups", 0).find_record("write")->integer("runtime_min_ms"), 5000);
}

TEST(Fio, MailEncodesAndWraps) {
  const FileFacts file = read_text(
      "> Run status group 0 (all jobs):\n>    READ: bw=3D10.5GiB/s (11.3GB/s), 10.5GiB/s-10.5GiB/s "
      "(11.3GB/s-11.3GB/s)=\n"
      "> , io=3D630GiB (676GB), run=3D60001-60001msec\n");
  const FactRecord& read = *item(facts_of(file), "groups", 0).find_record("read");
  EXPECT_DOUBLE_EQ(*read.number("bw_gib_per_s"), 10.5);
  EXPECT_DOUBLE_EQ(*read.number("io_gib"), 630);
  EXPECT_EQ(read.integer("runtime_max_ms"), 60001);
}

TEST(Fio, ExcerptWithoutDirection) {
  const FileFacts file = read_text(
      "   iops        : min= 10, max= 30, avg=20.50, stdev=1.00, samples=9\n  lat (msec)   : 20=50.00%, 50=50.00%\n"
      "     issued rwt: total=100,0,0, short=0,0,0, dropped=0,0,0\nRun status group 0 (all jobs):\n"
      "   READ: bw=80.0KiB/s (81.9kB/s), 80.0KiB/s-80.0KiB/s (81.9kB/s-81.9kB/s), io=400KiB (410kB), run=5-5msec\n");
  const FactRecord& job = item(facts_of(file), "jobs", 0);
  ASSERT_NE(job.find_record("read"), nullptr);
  EXPECT_DOUBLE_EQ(*job.find_record("read")->find_record("iops_samples")->number("avg"), 20.5);
}

TEST(FioJson, ReadsJobsOptionsAndDisks) {
  const FileFacts file = read_text(
      "note: something on stderr\n{\n \"fio version\": \"fio-3.41\",\n \"global options\": {\"bs\": \"1M\", \"rw\": "
      "\"write\"},\n \"jobs\": [{\"jobname\": \"j\", \"groupid\": 0, \"error\": 0, \"job options\": {\"bs\": \"2M\"},\n"
      "  \"read\": {\"io_bytes\": 0, \"iops\": 0.0},\n  \"write\": {\"io_bytes\": 4194304, \"io_kbytes\": 4096, "
      "\"bw_bytes\": 2097152, \"bw\": 2048, \"iops\": 1.0, \"runtime\": 2000,\n   \"clat_ns\": {\"min\": 5, \"mean\": "
      "6.5, \"percentile\": {\"99.000000\": 9}, \"bins\": {\"5\": 1, \"9\": 1}}},\n  \"latency_ms\": {\"2\": 10.0, "
      "\">=2000\": 0.5}}],\n \"disk_util\": [{\"name\": \"sdq\", \"util\": 12.5}]\n}\n");
  ASSERT_EQ(kind_of(file), "fio");
  const FactRecord& facts = facts_of(file);
  EXPECT_EQ(facts.text("fio_version"), "fio-3.41");
  EXPECT_EQ(facts.text("bs"), "2M");
  EXPECT_EQ(facts.text("rw"), "write");
  EXPECT_DOUBLE_EQ(*facts.number("write_bw_kib_per_s"), 2048);
  EXPECT_FALSE(facts.has("read_iops"));
  const FactRecord& job = item(facts, "jobs", 0);
  EXPECT_EQ(job.line, 5);
  const FactRecord& clat = *job.find_record("write")->find_record("clat");
  EXPECT_EQ(clat.find_record("percentiles_ns")->integer("p99"), 9);
  EXPECT_EQ(clat.integer("bin_count"), 2);
  EXPECT_DOUBLE_EQ(*job.find_record("latency_share_pct")->number("ge_2000ms"), 0.5);
  EXPECT_DOUBLE_EQ(*item(facts, "disks", 0).number("util_pct"), 12.5);
}

TEST(FioJson, CutDocumentsKeepWhatStands) {
  const FileFacts file =
      read_text("{\"fio version\": \"fio-3.28\", \"jobs\": [{\"jobname\": \"a\", \"read\": {\"iops\": 5.5, \"bw\": 22");
  EXPECT_DOUBLE_EQ(*facts_of(file).number("read_iops"), 5.5);
  EXPECT_EQ(file.readings.front().reading.unread_count(), 1);
}

TEST(FioTerse, ReadsAJobALine) {
  std::string line = "3;fio-3.33;tj;0;0;4096;2048;512;2000;1;2;1.5;0.1;10;20;15.0;1.0;1.000000%=11";
  for (int i = 0; i < 19; ++i) line += ";0%=0";
  line += ";12;22;17.0;1.0;100;300;100.00%;200.0;5.0";
  for (int i = 0; i < 12; ++i) line += ";0";
  for (int i = 0; i < 20; ++i) line += ";0%=0";
  for (int i = 0; i < 9; ++i) line += ";0";
  line += ";1.5%;8.5%;100;0;9;100.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.0%";
  for (int i = 0; i < 22; ++i) line += ";0.00%";
  line += ";sdq;10;11;0;0;5;6;11;77.50%\n";
  const FileFacts file = read_text(line);
  ASSERT_EQ(kind_of(file), "fio");
  const FactRecord& job = item(facts_of(file), "jobs", 0);
  EXPECT_EQ(job.text("name"), "tj");
  EXPECT_EQ(job.find_record("read")->integer("iops"), 512);
  EXPECT_EQ(job.find_record("read")->find_record("clat")->find_record("percentiles_us")->integer("p1"), 11);
  EXPECT_FALSE(job.has("write"));
  EXPECT_DOUBLE_EQ(*job.find_record("cpu")->number("sys_pct"), 8.5);
  EXPECT_DOUBLE_EQ(*item(job, "disks", 0).number("util_pct"), 77.5);
}

TEST(FioValues, CountsAndAmounts) {
  EXPECT_DOUBLE_EQ(*fio_count("91.6k"), 91600);
  EXPECT_DOUBLE_EQ(*fio_count("12"), 12);
  EXPECT_FALSE(fio_count("x"));
  EXPECT_DOUBLE_EQ(fio_amount("2MiB/s", false)->bytes, 2097152);
  EXPECT_DOUBLE_EQ(fio_amount("2MB/s", false)->bytes, 2e6);
  EXPECT_DOUBLE_EQ(fio_amount("2MB/s", true)->bytes, 2097152);
  EXPECT_EQ(percentile_name("99.950000"), "p99_95");
}

TEST(Fio, IsNotFoundElsewhere) {
  EXPECT_NE(kind_of(read_text("epoch 1 read: 5 rows, bw 3\n")), "fio");
  EXPECT_NE(kind_of(read_text("{\"jobs\": [1, 2]}\n")), "fio");
}

}  // namespace
}  // namespace tare
