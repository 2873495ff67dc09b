set -u
mkdir -p /tmp/g && tar xJf .gpu.tar.xz -C /tmp/g && cd /tmp/g/.gpu || exit 1
export LD_LIBRARY_PATH=$PWD/lib:$PWD SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy LIMPID_ENGINE_PATH=$PWD:$PWD/lib
nvidia-smi --query-gpu=name --format=csv,noheader; nproc
./limpid devices 2>&1 | head -5
L="timeout 60 ./limpid"
echo "== preview 1080p25 gpu"; $L preview p25.mkv --loop --frames 400 --json > $OUT/p_gpu.json 2>$OUT/p_gpu.err; tail -3 $OUT/p_gpu.err
echo "== preview 1080p25 cpu 8"; $L preview p25.mkv --loop --frames 280 --engine cpu --threads 8 --json > $OUT/p_cpu8.json 2>$OUT/p_cpu8.err; tail -3 $OUT/p_cpu8.err
S='testsrc2=s=1920x1080:r=60,format=yuv420p,noise=alls=15:allf=t'
for q in auto fixed; do echo "== webcam 1080p60 gpu $q"; $L webcam --input-format lavfi "$S" --no-window --record $OUT/x.mkv -y --preset ultrafast --latency 0 --quality $q --frames 900 --json > $OUT/w_gpu_$q.json 2>$OUT/w_gpu_$q.err; tail -3 $OUT/w_gpu_$q.err; done
echo "== webcam 720p30 cpu 2"; taskset -c 0,1 $L webcam --input-format lavfi 'testsrc2=s=1280x720:r=30,format=yuv420p,noise=alls=15:allf=t' --engine cpu --threads 2 --no-window --record $OUT/x.mkv -y --preset ultrafast --latency 0 --frames 450 --json > $OUT/w_720.json 2>$OUT/w_720.err; tail -3 $OUT/w_720.err
echo "== preview 480p25 cpu 2"; taskset -c 0,1 $L preview p25.mkv --loop --frames 280 --engine cpu --threads 2 --json > $OUT/p_cpu2.json 2>$OUT/p_cpu2.err; tail -3 $OUT/p_cpu2.err
rm -f $OUT/x*.mkv; for f in $OUT/*.json; do echo $f; python3 -c "
import json,sys;d=json.load(open(sys.argv[1]));print({k:d[k] for k in d if k in (\"frames_shown\",\"frames_dropped\",\"quality\")}, {k:(d[k][\"median\"],d[k][\"p95\"]) for k in d if k.endswith(\"_ms\") and isinstance(d[k],dict)})" $f; done
