# A small image with the tools: docker build -t verbena . && docker run --rm verbena ibv_devinfo
FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && npm pack --silent --pack-destination / \
  && npm install --global --prefix /opt/verbena --ignore-scripts --no-audit --no-fund /verbena-*.tgz

FROM node:22-bookworm-slim
COPY --from=build /opt/verbena /opt/verbena
ENV PATH=/opt/verbena/bin:$PATH
# As anybody: no root, no capabilities, no devices, Docker's default seccomp profile.
USER node
WORKDIR /home/node
ENTRYPOINT ["verbena"]
CMD ["--help"]
