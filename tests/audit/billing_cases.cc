#include "rule_case.h"

namespace tare {
namespace {

const char* const kCovered =
    "lineItem/LineItemType,lineItem/UsageStartDate,lineItem/UsageEndDate,product/ProductName,lineItem/UnblendedCost,"
    "reservation/EffectiveCost,lineItem/CurrencyCode\n"
    "DiscountedUsage,2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,AmazonEC2,0,31.5,USD\n"
    "Usage,2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,AmazonEC2,4.25,0,USD\n";
const char* const kPlain =
    "BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ServiceName\n"
    "12.5,12.5,USD,Usage,2026-03-01,2026-03-02,Compute\n";
const char* const kTwoCurrencies =
    "BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ServiceName\n"
    "12.5,12.5,USD,Usage,2026-03-01,2026-03-02,Compute\n"
    "9.5,9.5,EUR,Usage,2026-03-01,2026-03-02,Compute\n";

std::string aws_bill(const char* type, const char* cost, const char* description, const char* category = "Usage") {
  return std::string("lineItem/LineItemType,lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/ProductCode,") +
         "lineItem/LineItemDescription,lineItem/UsageAmount,pricing/unit,product/instanceType,lineItem/UnblendedCost," +
         "lineItem/CurrencyCode\n" + category + ",2026-03-01T00:00:00Z,2026-03-02T00:00:00Z,AmazonEC2," + description +
         ",24,Hrs," + type + "," + cost + ",USD\n";
}

const char* const kSkyPilot =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice\n"
    "h8,128,1600,H100,8,,north,24.0,\n"
    "h1,16,200,H100,1,,north,3.0,1.2\n";
const char* const kAllSpot =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice\n"
    "h1,16,200,H100,1,,north,3.0,1.2\n";
const char* const kDearList =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice\n"
    "h8,128,1600,H100,8,,north,800.0,\n";
const char* const kA100 =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice\n"
    "a1,16,200,A100,1,,north,2.0,\n";
const char* const kA100Sized =
    "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice\n"
    "a1,16,200,A100-80GB,1,,north,2.0,\n";

const char* const kInvoice = "Description,Quantity,Unit,Amount (USD)\n8x H100,10,h,250.00\nStorage,1,month,50.00\n";

}  // namespace

std::span<const RuleCase> billing_cases() {
  static const std::string dear = aws_bill("p5.48xlarge", "9600.00", "p5.48xlarge on demand");
  static const std::string fair = aws_bill("p5.48xlarge", "528.00", "p5.48xlarge on demand");
  static const std::string nat = aws_bill("", "64.00", "USD 0.045 per GB Data Processed by NAT Gateway");
  static const std::string idle = aws_bill("", "3.60", "Idle public IPv4 address per hour");
  static const std::string tax = aws_bill("", "19.00", "Tax of the month", "Tax");
  static const std::string wrong_total = std::string(kInvoice) + "Total,,,360.00\n";
  static const std::string right_total = std::string(kInvoice) + "Total,,,300.00\n";
  static const char* const core =
      "BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ServiceName,"
      "ConsumedQuantity,ConsumedUnit\n12.5,12.5,USD,Usage,2026-03-01,2026-03-02,Compute,96,OCPU Hours\n";
  static const char* const credit =
      "BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ServiceName\n"
      "100,100,USD,Usage,2026-03-01,2026-03-02,Compute\n-40,-40,USD,Credit,2026-03-01,2026-03-02,Compute\n";
  static const char* const empty_costs =
      "SubscriptionGuid,Date,MeterCategory,PreTaxCost,UsageQuantity\n11111111-2222-3333-4444-555555555555,2026-03-01,"
      "Virtual Machines,,\n";
  static const std::vector<RuleCase> cases = {
      {"billing.covered-usage",
       "ReservedHour",
       {{"cur.csv", kCovered}},
       true,
       FindingSeverity::kInfo,
       "AWS CUR 1",
       "effective"},
      {"billing.covered-usage", "NoCommitment", {{"focus.csv", kPlain}}, false},
      {"billing.several-currencies",
       "DollarsAndEuros",
       {{"focus.csv", kTwoCurrencies}},
       true,
       FindingSeverity::kLow,
       "",
       "USD"},
      {"billing.several-currencies", "DollarsOnly", {{"focus.csv", kPlain}}, false},
      {"billing.price-above",
       "FiftyDollarsAGpuHour",
       {{"cur.csv", dear}},
       true,
       FindingSeverity::kMedium,
       "p5.48xlarge",
       "$50.00 a GPU-hour"},
      {"billing.price-above", "AFairPrice", {{"cur.csv", fair}}, false},
      {"billing.core-hours", "OcpuHours", {{"focus.csv", core}}, true, FindingSeverity::kInfo, "", "OCPU Hours"},
      {"billing.core-hours", "MachineHours", {{"cur.csv", fair}}, false},
      {"billing.credits", "FortyOfAHundred", {{"focus.csv", credit}}, true, FindingSeverity::kInfo, "", "hide 40 %"},
      {"billing.credits", "NoCredits", {{"focus.csv", kPlain}}, false},
      {"billing.transfer", "NatGatewayIsTheBill", {{"cur.csv", nat}}, true, FindingSeverity::kMedium, "", "100 %"},
      {"billing.transfer", "Compute", {{"cur.csv", fair}}, false},
      {"billing.idle-resources", "IdleAddress", {{"cur.csv", idle}}, true, FindingSeverity::kLow, "", "3.60"},
      {"billing.idle-resources", "Compute", {{"cur.csv", fair}}, false},
      {"billing.tax", "ARowOfTax", {{"cur.csv", tax}}, true, FindingSeverity::kInfo, "", "1 rows"},
      {"billing.tax", "UsageOnly", {{"cur.csv", fair}}, false},
      {"billing.total-differs",
       "SixtyMore",
       {{"invoice.csv", wrong_total}},
       true,
       FindingSeverity::kLow,
       "",
       "300.00 USD, the bill says 360.00"},
      {"billing.total-differs", "TheSameTotal", {{"invoice.csv", right_total}}, false},
      {"billing.no-cost", "EmptyColumn", {{"azure.csv", empty_costs}}, true, FindingSeverity::kInfo, "", "no row"},
      {"billing.no-cost", "ACostOfZero", {{"cur.csv", kCovered}}, false},
      {"billing.spot-price-missing",
       "OneOfTwo",
       {{"vms.csv", kSkyPilot}},
       true,
       FindingSeverity::kInfo,
       "",
       "1 of 2 GPU offers"},
      {"billing.spot-price-missing", "AllHaveOne", {{"vms.csv", kAllSpot}}, false},
      {"billing.gpu-ambiguous", "A100WithoutSize", {{"vms.csv", kA100}}, true, FindingSeverity::kInfo, "", "a100"},
      {"billing.gpu-ambiguous", "A100WithSize", {{"vms.csv", kA100Sized}}, false},
      {"billing.list-above",
       "HundredDollars",
       {{"vms.csv", kDearList}},
       true,
       FindingSeverity::kInfo,
       "H100",
       "$100.00"},
      {"billing.list-above", "ThreeDollars", {{"vms.csv", kAllSpot}}, false},
  };
  return cases;
}

}  // namespace tare
