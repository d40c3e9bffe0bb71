#!/bin/sh
# A firewall of 40,000 rules that nothing of this lab's traffic matches: each packet is compared with all of them.
{
    echo "table ip firewall {"
    echo "chain forward {"
    echo "type filter hook forward priority 0; policy accept;"
    seq 40000 | awk '{
        printf "ip saddr 203.0.113.%d udp dport %d drop\n", $1 % 256, 10000 + int($1 / 256)
    }'
    echo "}"
    echo "}"
} | nft -f -
