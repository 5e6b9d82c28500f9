// Writes an xclbin of the kind that aiecc and xclbinutil make for an NPU, by the structs of XRT's own header, so that
// the reader under test and its samples do not share one mistake.
//
//   xclbin_sample OUT SEED PAYLOAD [KERNEL:ID ...]
//
// SEED stands for what differs from build to build (UUIDs, times, what bootgen leaves unset); PAYLOAD for the design.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <xrt/xclbin.h>

#if __has_include(<xrt/detail/xclbin.h>)
namespace npu {
constexpr uint32_t partition_kind = AIE_PARTITION;
using ::aie_partition;
using ::aie_pdi;
using ::cdo_group;
}  // namespace npu
#else
// Debian's header is older than the AIE partition. These are the fields of XRT's xrt/detail/xclbin.h.
namespace npu {
constexpr uint32_t partition_kind = 32;

struct array_offset {
  uint32_t size;
  uint32_t offset;
};

struct cdo_group {
  uint32_t mpo_name;
  uint8_t cdo_type;
  uint8_t padding[3];
  uint64_t pdi_id;
  array_offset dpu_kernel_ids;
  array_offset pre_cdo_groups;
  uint8_t reserved[64];
};

struct aie_pdi {
  xuid_t uuid;
  array_offset pdi_image;
  array_offset cdo_groups;
  uint8_t reserved[64];
};

struct aie_partition_info {
  uint16_t column_width;
  uint8_t padding[6];
  array_offset start_columns;
  uint8_t reserved[72];
};

struct aie_partition {
  uint8_t schema_version;
  uint8_t padding0[3];
  uint32_t mpo_name;
  uint32_t operations_per_cycle;
  uint8_t padding[4];
  uint64_t inference_fingerprint;
  uint64_t pre_post_fingerprint;
  aie_partition_info info;
  array_offset aie_pdi;
  uint32_t kernel_commit_id;
  uint8_t reserved[52];
};

static_assert(sizeof(cdo_group) == 96, "cdo_group");
static_assert(sizeof(aie_pdi) == 96, "aie_pdi");
static_assert(sizeof(aie_partition_info) == 88, "aie_partition_info");
static_assert(sizeof(aie_partition) == 184, "aie_partition");
}  // namespace npu
#endif

namespace {

using Bytes = std::vector<unsigned char>;

struct Kernel {
  std::string name;
  unsigned id;
};

struct Section {
  uint32_t kind;
  Bytes content;
};

template <typename T>
void append(Bytes &to, const T &value) {
  const auto *from = reinterpret_cast<const unsigned char *>(&value);
  to.insert(to.end(), from, from + sizeof(T));
}

void append_text(Bytes &to, const std::string &text) {
  to.insert(to.end(), text.begin(), text.end());
  to.push_back(0);
}

void align(Bytes &bytes) { bytes.resize((bytes.size() + 7) / 8 * 8); }

void fill(unsigned char *at, size_t size, unsigned seed) {
  for (size_t i = 0; i < size; ++i) at[i] = static_cast<unsigned char>(seed * 37 + i * 11 + 1);
}

// A boot image: preamble, an image header table that tells where the image header is, the header, then data.
Bytes boot_image(unsigned seed, unsigned payload) {
  const unsigned char preamble[16] = {0xdd, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, 0x88, 0x77, 0x66, 0x55, 0xcc, 0xbb, 0xaa, 0x99};
  Bytes image(preamble, preamble + 16);
  image.resize(16 + 128);
  const uint32_t header_word = (16 + 128) / 4;
  std::memcpy(&image[16 + 8], &header_word, 4);
  image.resize(image.size() + 64);
  fill(&image[4 * header_word + 0x08], 4, seed);
  fill(&image[4 * header_word + 0x3c], 4, seed + 1);
  for (unsigned i = 0; i < 64; ++i) append(image, payload * 1000 + i);
  return image;
}

Bytes partition(unsigned seed, unsigned payload, const std::vector<Kernel> &kernels) {
  npu::aie_partition head = {};
  Bytes heap;
  const auto place = [&heap] { return static_cast<uint32_t>(sizeof(npu::aie_partition) + heap.size()); };
  head.mpo_name = place();
  append_text(heap, "QoS");
  align(heap);
  head.operations_per_cycle = 2048;
  head.info.column_width = 1;
  head.info.start_columns = {4, place()};
  for (uint16_t column : {1, 2, 3, 4}) append(heap, column);
  align(heap);

  npu::aie_pdi pdi = {};
  fill(pdi.uuid, sizeof(pdi.uuid), seed + 2);
  const Bytes image = boot_image(seed, payload);
  pdi.pdi_image = {static_cast<uint32_t>(image.size()), place()};
  heap.insert(heap.end(), image.begin(), image.end());
  align(heap);

  npu::cdo_group group = {};
  group.mpo_name = place();
  append_text(heap, "DPU");
  align(heap);
  group.cdo_type = 1;
  group.pdi_id = 1;
  group.dpu_kernel_ids = {static_cast<uint32_t>(kernels.size()), place()};
  for (const Kernel &kernel : kernels) append(heap, static_cast<uint64_t>(kernel.id));
  group.pre_cdo_groups = {1, place()};
  append(heap, static_cast<uint32_t>(0xC1));
  align(heap);
  pdi.cdo_groups = {1, place()};
  append(heap, group);
  head.aie_pdi = {1, place()};
  append(heap, pdi);

  Bytes content;
  append(content, head);
  content.insert(content.end(), heap.begin(), heap.end());
  return content;
}

std::string argument(const char *name, int qualifier, int index, const char *type, int size, int offset) {
  char text[256];
  std::snprintf(text, sizeof text,
                "<arg name=\"%s\" addressQualifier=\"%d\" id=\"%d\" size=\"0x%x\" offset=\"0x%02x\" hostOffset=\"0x0\" "
                "hostSize=\"0x%x\" type=\"%s\"/>",
                name, qualifier, index, size, offset, size, type);
  return text;
}

Bytes metadata(const std::vector<Kernel> &kernels) {
  std::string text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<project><platform><device><core>";
  for (const Kernel &kernel : kernels) {
    char id[32];
    std::snprintf(id, sizeof id, "0x%x", kernel.id);
    text += "<kernel name=\"" + kernel.name + "\" language=\"c\" type=\"dpu\"><extended-data subtype=\"DPU\" functional=\"0\" dpu_kernel_id=\"" + id + "\"/>";
    text += argument("opcode", 0, 0, "uint64_t", 8, 0x00) + argument("instr", 1, 1, "char *", 8, 0x08);
    text += argument("ninstr", 0, 2, "uint32_t", 4, 0x10) + argument("bo0", 1, 3, "void*", 8, 0x14);
    text += argument("bo1", 1, 4, "void*", 8, 0x1c) + "<instance name=\"" + kernel.name + "_0\"/></kernel>";
  }
  text += "</core></device></platform></project>\n";
  return Bytes(text.begin(), text.end());
}

Bytes memories() {
  Bytes content(offsetof(mem_topology, m_mem_data));
  const int32_t count = 2;
  std::memcpy(content.data(), &count, sizeof count);
  const char *names[] = {"HOST", "SRAM"};
  for (int i = 0; i < count; ++i) {
    mem_data entry = {};
    entry.m_type = i == 0 ? MEM_HOST : MEM_DRAM;
    entry.m_used = 1;
    entry.m_size = 0x10000;
    entry.m_base_address = i == 0 ? 0x4000000 : 0x0;
    std::memcpy(entry.m_tag, names[i], 5);
    append(content, entry);
  }
  return content;
}

Bytes layout(const std::vector<Kernel> &kernels) {
  Bytes content(offsetof(ip_layout, m_ip_data));
  const auto count = static_cast<int32_t>(kernels.size());
  std::memcpy(content.data(), &count, sizeof count);
  for (const Kernel &kernel : kernels) {
    ip_data entry = {};
    entry.m_type = IP_PS_KERNEL;
    entry.properties = 1 | kernel.id << 16;
    entry.m_base_address = ~uint64_t{0};
    const std::string name = kernel.name + ":" + kernel.name + "_0";
    std::memcpy(entry.m_name, name.data(), name.size());
    append(content, entry);
  }
  return content;
}

Bytes connections(size_t kernels) {
  Bytes content(offsetof(connectivity, m_connection));
  const auto count = static_cast<int32_t>(3 * kernels);
  std::memcpy(content.data(), &count, sizeof count);
  for (size_t kernel = 0; kernel < kernels; ++kernel)
    for (int32_t index : {1, 3, 4}) append(content, connection{index, static_cast<int32_t>(kernel), index == 1});
  return content;
}

std::string hex(const unsigned char *bytes, size_t size) {
  std::string text;
  char digits[3];
  for (size_t i = 0; i < size; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

// What xclbinutil repeats as text after the sections.
std::string mirror(const axlf &head) {
  return "XCLBIN_MIRROR_DATA_START{\"header\": {\"Magic\": \"xclbin2\", \"UniqueID\": \"" +
         hex(reinterpret_cast<const unsigned char *>(&head.m_uniqueId), 8) + "\", \"TimeStamp\": \"" +
         std::to_string(head.m_header.m_timeStamp) + "\", \"XclBinUUID\": \"" + hex(head.m_header.uuid, 16) +
         "\", \"Mode\": \"0\"}}XCLBIN_MIRROR_DATA_END";
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const auto seed = static_cast<unsigned>(std::atoi(argv[2]));
  const auto payload = static_cast<unsigned>(std::atoi(argv[3]));
  std::vector<Kernel> kernels;
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    kernels.push_back({word.substr(0, word.find(':')), static_cast<unsigned>(std::strtoul(word.substr(word.find(':') + 1).c_str(), nullptr, 0))});
  }
  if (kernels.empty()) kernels.push_back({"MLIR_AIE", 0x901});
  const std::vector<Section> sections = {{MEM_TOPOLOGY, memories()},
                                         {npu::partition_kind, partition(seed, payload, kernels)},
                                         {EMBEDDED_METADATA, metadata(kernels)},
                                         {IP_LAYOUT, layout(kernels)},
                                         {CONNECTIVITY, connections(kernels.size())}};

  axlf head = {};
  std::memcpy(head.m_magic, "xclbin2", 8);
  head.m_signature_length = -1;
  std::memset(head.reserved, 0xff, sizeof head.reserved);
  std::memset(head.m_keyBlock, 0xff, sizeof head.m_keyBlock);
  head.m_uniqueId = 1700000000 + seed;
  head.m_header.m_timeStamp = 1700000000 + seed;
  head.m_header.m_versionMajor = 2;
  head.m_header.m_versionMinor = 13;
  head.m_header.m_mode = XCLBIN_FLAT;
  fill(head.m_header.uuid, sizeof head.m_header.uuid, seed + 3);
  head.m_header.m_numSections = static_cast<uint32_t>(sections.size());

  Bytes body;
  std::vector<axlf_section_header> table;
  const size_t start = offsetof(axlf, m_sections) + sections.size() * sizeof(axlf_section_header);
  for (const Section &section : sections) {
    axlf_section_header entry = {};
    entry.m_sectionKind = section.kind;
    entry.m_sectionOffset = start + body.size();
    entry.m_sectionSize = section.content.size();
    table.push_back(entry);
    body.insert(body.end(), section.content.begin(), section.content.end());
    align(body);
  }
  const std::string repeated = mirror(head);
  head.m_header.m_length = start + body.size() + repeated.size();

  std::FILE *out = std::fopen(argv[1], "wb");
  if (out == nullptr) return 1;
  std::fwrite(&head, offsetof(axlf, m_sections), 1, out);
  std::fwrite(table.data(), sizeof(axlf_section_header), table.size(), out);
  std::fwrite(body.data(), 1, body.size(), out);
  std::fwrite(repeated.data(), 1, repeated.size(), out);
  return std::fclose(out) == 0 ? 0 : 1;
}
