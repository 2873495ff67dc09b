// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

// The part of the OpenFX image effect API 1.4 that the plug-in uses: layouts of structs, and values of names.
// Source: the API's reference, https://openfx.readthedocs.io/en/main/Reference/. Functions of a suite that
// the plug-in does not call have the type Unused, which keeps the places of the others.

namespace limpid::openfx::abi {

using Status = int;
inline constexpr Status kOk = 0;
inline constexpr Status kFailed = 1;
inline constexpr Status kUnknown = 3;
inline constexpr Status kMissingHostFeature = 4;
inline constexpr Status kUnsupported = 5;
inline constexpr Status kNoMemory = 8;
inline constexpr Status kBadHandle = 9;
inline constexpr Status kYes = 12;
inline constexpr Status kNo = 13;
inline constexpr Status kDefault = 14;

using Properties = struct OpaqueProperties*;
using Effect = struct OpaqueEffect*;
using Clip = struct OpaqueClip*;
using Parameter = struct OpaqueParameter*;
using Parameters = struct OpaqueParameters*;
using Unused = void (*)();

/// Half open: x2 and y2 are outside.
struct Rectangle {
  int x1, y1, x2, y2;
  bool operator==(const Rectangle&) const = default;
};
struct Area {
  double x1, y1, x2, y2;
};

struct Host {
  Properties properties;
  const void* (*suite)(Properties host, const char* name, int version);
};

using Entry = Status(const char* action, const void* handle, Properties in, Properties out);

struct Plugin {
  const char* api;
  int api_version;
  const char* identifier;
  unsigned version_major, version_minor;
  void (*set_host)(Host* host);
  Entry* entry;
};

// ---- Suites ----

inline constexpr const char* kPropertySuite = "OfxPropertySuite";  // version 1
struct PropertySuite {
  Status (*set_pointer)(Properties, const char* name, int index, void* value);
  Status (*set_string)(Properties, const char* name, int index, const char* value);
  Status (*set_double)(Properties, const char* name, int index, double value);
  Status (*set_int)(Properties, const char* name, int index, int value);
  Unused set_many[4];
  Status (*get_pointer)(Properties, const char* name, int index, void** value);
  Status (*get_string)(Properties, const char* name, int index, char** value);
  Status (*get_double)(Properties, const char* name, int index, double* value);
  Status (*get_int)(Properties, const char* name, int index, int* value);
  Unused get_many[4];
  Unused reset;
  Status (*dimension)(Properties, const char* name, int* count);
};

inline constexpr const char* kEffectSuite = "OfxImageEffectSuite";  // version 1
struct EffectSuite {
  Status (*properties)(Effect, Properties* properties);
  Status (*parameters)(Effect, Parameters* parameters);
  Status (*define_clip)(Effect, const char* name, Properties* properties);
  Status (*clip)(Effect, const char* name, Clip* clip, Properties* properties);
  Status (*clip_properties)(Clip, Properties* properties);
  Status (*image)(Clip, double time, const Area* region, Properties* image);
  Status (*release_image)(Properties image);
  Status (*region_of_definition)(Clip, double time, Area* region);
  int (*abort)(Effect);
  Unused memory[4];
};

inline constexpr const char* kParameterSuite = "OfxParameterSuite";  // version 1
struct ParameterSuite {
  Status (*define)(Parameters, const char* type, const char* name, Properties* properties);
  Status (*handle)(Parameters, const char* name, Parameter* parameter, Properties* properties);
  Unused set_properties;
  Status (*properties)(Parameter, Properties* properties);
  Status (*get)(Parameter, ...);
  Unused get_at_time, derivative, integral;
  Status (*set)(Parameter, ...);
  Unused set_at_time, keys[5], copy;
  Status (*begin_edit)(Parameters, const char* name);
  Status (*end_edit)(Parameters);
};

inline constexpr const char* kMessageSuite = "OfxMessageSuite";  // versions 1 and 2
struct MessageSuite {
  Status (*message)(void* effect, const char* type, const char* id, const char* format, ...);
  // In version 2.
  Status (*set_persistent)(void* effect, const char* type, const char* id, const char* format, ...);
  Status (*clear_persistent)(void* effect);
};

inline constexpr const char* kProgressSuite = "OfxProgressSuite";  // version 1
struct ProgressSuite {
  Status (*start)(void* effect, const char* label);
  Status (*update)(void* effect, double part);  // kNo: the user has canceled
  Status (*end)(void* effect);
};

// ---- Names ----

inline constexpr const char* kApi = "OfxImageEffectPluginAPI";

inline constexpr const char* kLoad = "OfxActionLoad";
inline constexpr const char* kUnload = "OfxActionUnload";
inline constexpr const char* kDescribe = "OfxActionDescribe";
inline constexpr const char* kDescribeInContext = "OfxImageEffectActionDescribeInContext";
inline constexpr const char* kCreateInstance = "OfxActionCreateInstance";
inline constexpr const char* kDestroyInstance = "OfxActionDestroyInstance";
inline constexpr const char* kInstanceChanged = "OfxActionInstanceChanged";
inline constexpr const char* kPurgeCaches = "OfxActionPurgeCaches";
inline constexpr const char* kGetRegionsOfInterest = "OfxImageEffectActionGetRegionsOfInterest";
inline constexpr const char* kGetFramesNeeded = "OfxImageEffectActionGetFramesNeeded";
inline constexpr const char* kIsIdentity = "OfxImageEffectActionIsIdentity";
inline constexpr const char* kRender = "OfxImageEffectActionRender";
inline constexpr const char* kEndSequence = "OfxImageEffectActionEndSequenceRender";

inline constexpr const char* kContextFilter = "OfxImageEffectContextFilter";
inline constexpr const char* kContextGeneral = "OfxImageEffectContextGeneral";

inline constexpr const char* kByte = "OfxBitDepthByte";
inline constexpr const char* kShort = "OfxBitDepthShort";
inline constexpr const char* kHalf = "OfxBitDepthHalf";
inline constexpr const char* kFloat = "OfxBitDepthFloat";
inline constexpr const char* kRgba = "OfxImageComponentRGBA";
inline constexpr const char* kRgb = "OfxImageComponentRGB";
inline constexpr const char* kAlpha = "OfxImageComponentAlpha";
inline constexpr const char* kPremultiplied = "OfxImageAlphaPremultiplied";
inline constexpr const char* kUnpremultiplied = "OfxImageAlphaUnPremultiplied";
inline constexpr const char* kFieldNone = "OfxFieldNone";
inline constexpr const char* kFieldBoth = "OfxFieldBoth";
inline constexpr const char* kFieldLower = "OfxFieldLower";  // rows 0, 2, 4 from the bottom
inline constexpr const char* kFieldUpper = "OfxFieldUpper";
inline constexpr const char* kFullySafe = "OfxImageEffectRenderFullySafe";

inline constexpr const char* kSource = "Source";
inline constexpr const char* kOutput = "Output";

namespace property {
inline constexpr const char* kType = "OfxPropType";
inline constexpr const char* kName = "OfxPropName";
inline constexpr const char* kLabel = "OfxPropLabel";
inline constexpr const char* kDescription = "OfxPropPluginDescription";
inline constexpr const char* kVersionLabel = "OfxPropVersionLabel";
inline constexpr const char* kTime = "OfxPropTime";
inline constexpr const char* kInstanceData = "OfxPropInstanceData";
inline constexpr const char* kIsInteractive = "OfxPropIsInteractive";
inline constexpr const char* kChangeReason = "OfxPropChangeReason";
inline constexpr const char* kGrouping = "OfxImageEffectPluginPropGrouping";
inline constexpr const char* kContext = "OfxImageEffectPropContext";
inline constexpr const char* kContexts = "OfxImageEffectPropSupportedContexts";
inline constexpr const char* kDepths = "OfxImageEffectPropSupportedPixelDepths";
inline constexpr const char* kSupportedComponents = "OfxImageEffectPropSupportedComponents";
inline constexpr const char* kThreadSafety = "OfxImageEffectPluginRenderThreadSafety";
inline constexpr const char* kHostThreading = "OfxImageEffectPluginPropHostFrameThreading";
inline constexpr const char* kMultipleDepths = "OfxImageEffectPropMultipleClipDepths";
inline constexpr const char* kMultiResolution = "OfxImageEffectPropSupportsMultiResolution";
inline constexpr const char* kTiles = "OfxImageEffectPropSupportsTiles";
inline constexpr const char* kTemporalAccess = "OfxImageEffectPropTemporalClipAccess";
inline constexpr const char* kRenderTwice = "OfxImageEffectPluginPropFieldRenderTwiceAlways";
inline constexpr const char* kSequential = "OfxImageEffectInstancePropSequentialRender";  // 2: preferred
inline constexpr const char* kFieldExtraction = "OfxImageClipPropFieldExtraction";
inline constexpr const char* kFieldToRender = "OfxImageEffectPropFieldToRender";
inline constexpr const char* kFrameRange = "OfxImageEffectPropFrameRange";
inline constexpr const char* kSourceFrames = "OfxImageClipPropFrameRange_Source";
inline constexpr const char* kSourceRegion = "OfxImageClipPropRoI_Source";
inline constexpr const char* kRenderScale = "OfxImageEffectPropRenderScale";
inline constexpr const char* kRenderWindow = "OfxImageEffectPropRenderWindow";
inline constexpr const char* kDepth = "OfxImageEffectPropPixelDepth";
inline constexpr const char* kComponents = "OfxImageEffectPropComponents";
inline constexpr const char* kPremultiplication = "OfxImageEffectPropPreMultiplication";
inline constexpr const char* kAspectRatio = "OfxImagePropPixelAspectRatio";
inline constexpr const char* kField = "OfxImagePropField";
inline constexpr const char* kData = "OfxImagePropData";
inline constexpr const char* kBounds = "OfxImagePropBounds";
inline constexpr const char* kRowBytes = "OfxImagePropRowBytes";
inline constexpr const char* kIdentifier = "OfxImagePropUniqueIdentifier";
}  // namespace property

inline constexpr const char* kTypeClip = "OfxTypeClip";
inline constexpr const char* kTypeParameter = "OfxTypeParameter";
inline constexpr const char* kChangeTime = "OfxChangeTime";
inline constexpr const char* kMessageError = "OfxMessageError";
inline constexpr const char* kMessageWarning = "OfxMessageWarning";

// ---- Parameters ----

namespace parameter {
inline constexpr const char* kDouble = "OfxParamTypeDouble";
inline constexpr const char* kDouble2D = "OfxParamTypeDouble2D";
inline constexpr const char* kChoice = "OfxParamTypeChoice";
inline constexpr const char* kString = "OfxParamTypeString";
inline constexpr const char* kGroup = "OfxParamTypeGroup";
inline constexpr const char* kButton = "OfxParamTypePushButton";

inline constexpr const char* kHint = "OfxParamPropHint";
inline constexpr const char* kDefault = "OfxParamPropDefault";
inline constexpr const char* kMin = "OfxParamPropMin";
inline constexpr const char* kMax = "OfxParamPropMax";
inline constexpr const char* kDisplayMin = "OfxParamPropDisplayMin";
inline constexpr const char* kDisplayMax = "OfxParamPropDisplayMax";
inline constexpr const char* kParent = "OfxParamPropParent";
inline constexpr const char* kSecret = "OfxParamPropSecret";
inline constexpr const char* kEnabled = "OfxParamPropEnabled";
inline constexpr const char* kAnimates = "OfxParamPropAnimates";
inline constexpr const char* kGroupOpen = "OfxParamPropGroupOpen";
inline constexpr const char* kOption = "OfxParamPropChoiceOption";
inline constexpr const char* kEvaluateOnChange = "OfxParamPropEvaluateOnChange";
inline constexpr const char* kDoubleType = "OfxParamPropDoubleType";
inline constexpr const char* kPosition = "OfxParamDoubleTypeXYAbsolute";
inline constexpr const char* kDistance = "OfxParamDoubleTypeXY";
inline constexpr const char* kCoordinates = "OfxParamPropDefaultCoordinateSystem";
inline constexpr const char* kNormalized = "OfxParamCoordinatesNormalised";
}  // namespace parameter

}  // namespace limpid::openfx::abi
