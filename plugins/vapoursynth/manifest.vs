[VapourSynth Manifest V1]
libvslimpid
