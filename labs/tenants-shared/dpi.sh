#!/bin/sh
# Looks into each packet's payload for what applications begin with, and counts what it finds: iptables -vL.
set -e
for words in "BitTorrent protocol" "HTTP/1.1" "SSH-2.0" "SIP/2.0" "EHLO " "STARTTLS" "RTSP/1.0" "NICK "; do
    iptables -A FORWARD -m string --algo bm --string "$words"
done
