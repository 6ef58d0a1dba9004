# Only the server, which is one static file, without a shell. It is built before: of the release by GoReleaser, for one
# platform by `make image-context`, both in a directory for each platform:
#
#	make image-context && docker build -t caddy-maps build/image
#
# BASE is anything with certificates of authorities, or `scratch` where none are needed.
ARG BASE=gcr.io/distroless/static-debian12:nonroot
FROM ${BASE}

ARG TARGETPLATFORM
COPY ${TARGETPLATFORM}/caddy /usr/bin/caddy
COPY packaging/Caddyfile /etc/caddy-maps/Caddyfile

# 65532 is the user nonroot of distroless. A new volume takes the owner of its directory here.
COPY --chown=65532:65532 packaging/container/state /var/lib/caddy-maps
COPY --chown=65532:65532 packaging/container/regions /regions
VOLUME ["/var/lib/caddy-maps", "/regions"]

ENV HOME=/var/lib/caddy-maps \
    XDG_DATA_HOME=/var/lib/caddy-maps \
    XDG_CONFIG_HOME=/var/lib/caddy-maps \
    MAPS_BIND=0.0.0.0 \
    MAPS_REGION=/regions/map.region
WORKDIR /var/lib/caddy-maps
USER 65532:65532
EXPOSE 8080 80 443 443/udp

HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["/usr/bin/caddy", "maps", "health", "--config", "/etc/caddy-maps/Caddyfile"]
ENTRYPOINT ["/usr/bin/caddy"]
CMD ["run", "--config", "/etc/caddy-maps/Caddyfile"]
