// OTF2's functions, from the library that is loaded when the first archive is wanted.
#pragma once

#include <otf2/otf2.h>

#include "base/result.hpp"

namespace tmpi::observe {

// Those that are called, without "OTF2_".
#define TMPI_OTF2_FUNCTIONS(each)                                                                          \
  each(Archive_Open) each(Archive_Close) each(Archive_SetFlushCallbacks)                                   \
      each(Archive_SetSerialCollectiveCallbacks) each(Archive_SetCreator) each(Archive_OpenEvtFiles)       \
          each(Archive_CloseEvtFiles) each(Archive_OpenDefFiles) each(Archive_CloseDefFiles)               \
              each(Archive_GetEvtWriter) each(Archive_CloseEvtWriter) each(Archive_GetDefWriter)           \
                  each(Archive_CloseDefWriter) each(Archive_GetGlobalDefWriter) each(EvtWriter_Enter)      \
                      each(EvtWriter_Leave) each(EvtWriter_MpiSend) each(EvtWriter_MpiRecv)                \
                          each(EvtWriter_MpiCollectiveBegin) each(EvtWriter_MpiCollectiveEnd)              \
                              each(EvtWriter_GetNumberOfEvents) each(GlobalDefWriter_WriteClockProperties) \
                                  each(GlobalDefWriter_WriteString) each(GlobalDefWriter_WriteParadigm)    \
                                      each(GlobalDefWriter_WriteRegion)                                    \
                                          each(GlobalDefWriter_WriteSystemTreeNode)                        \
                                              each(GlobalDefWriter_WriteLocationGroup)                     \
                                                  each(GlobalDefWriter_WriteLocation)                      \
                                                      each(GlobalDefWriter_WriteGroup)                     \
                                                          each(GlobalDefWriter_WriteComm)                  \
                                                              each(Error_GetDescription)                   \
                                                                  each(Error_RegisterCallback)

struct Otf2 {
#define TMPI_OTF2_MEMBER(name) decltype(&OTF2_##name) name = nullptr;
  TMPI_OTF2_FUNCTIONS(TMPI_OTF2_MEMBER)
#undef TMPI_OTF2_MEMBER
};

/// One thread at a time. Failure: why it cannot be had, and what to install.
Result<const Otf2*> load_otf2();

}  // namespace tmpi::observe
