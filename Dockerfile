# One image for all processes. The command selects one: src/bin/api.ts by default, or worker.ts, relay.ts, migrate.ts,
# namespace.ts or current.ts. It writes only to the folder files, so its root file system can be read-only.
#
# The base is pinned by digest; the tag is for people. docs/how-to/upgrade.md#image-digests explains how to check it.
FROM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS base
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json ./

# Bundled here, so that a worker starts a second sooner and the image does not need the bundler's native part.
FROM base AS workflows
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY src src
COPY activities activities
COPY workflows workflows
COPY temporal-config temporal-config
RUN node src/bin/bundle.ts dist/workflows.js

# Without optional packages: the embedded PostgreSQL, a second Node, the bundler's native part. Temporal's native part
# comes for five platforms, of which this image needs one.
FROM base AS packages
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# The libraries that decode pictures and draw PDFs are prebuilt optional packages for this platform.
COPY --from=workflows /app/node_modules/@img node_modules/@img
COPY --from=workflows /app/node_modules/@napi-rs node_modules/@napi-rs
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM base
COPY --from=packages /app/node_modules node_modules
# Lists the packages that are here. npm refuses to, while package.json asks for others.
RUN npm pkg delete devDependencies && npm sbom --sbom-format cyclonedx > sbom.json
COPY --from=workflows /app/dist dist
COPY src src
COPY docs docs
COPY activities activities
COPY temporal-config temporal-config
# A volume for uploaded files inherits this folder's permissions: the processes' user can write to it.
RUN mkdir --mode=1777 files
ENV HOST=0.0.0.0 PORT=8080
EXPOSE 8080
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/bin/api.ts"]
