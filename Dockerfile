# Argosy as an image: one static binary and the certificates that it knows servers by. Nothing in it runs as root.
ARG BASE=golang:1.26
FROM ${BASE} AS build
WORKDIR /src
COPY go.mod go.sum ./
COPY thin thin
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w ${VERSION:+-X main.version=${VERSION}}" -o /argosy ./cmd/argosy \
 && mkdir -p /empty/data /empty/tmp && chmod 1777 /empty/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /empty/ /
COPY --from=build /argosy /argosy
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8480 4480 8490
ENTRYPOINT ["/argosy"]
CMD ["--help"]
