# The image of a worker. Postgres and Redis are other containers (docker-compose.yml). The embedded Postgres and the
# pinned Node are optional dependencies and left out here: the base image has Node.
FROM node:26-slim@sha256:c0753125a3789977aefe869cbebccf70e3cfd7ea84ca48547458f02e4f1d7146 AS base
WORKDIR /ferry

FROM base AS dependencies
COPY package.json package-lock.json .npmrc ./
# What only development reads, a third of it, goes: types and source maps.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && \
  find node_modules -regextype egrep -regex '.*(\.map|\.d\.[cm]?ts)' -delete

FROM base
ENV NODE_ENV=production FERRY_DATA_DIR=/tmp PATH=/ferry/bin:$PATH
COPY --from=dependencies /ferry/node_modules ./node_modules
COPY package.json ./
COPY bin/ferry ./bin/
COPY drizzle ./drizzle
COPY jobs ./jobs
COPY src ./src
USER node
# A worker touches this file three times a minute, as long as Postgres answers and its work goes on.
HEALTHCHECK --interval=20s --timeout=3s --start-period=60s \
  CMD test -n "$(find "$FERRY_DATA_DIR/alive" -mmin -2)"
# Node itself, not npm: a signal must reach the worker, which then drains. One flag keeps SIGUSR1 from opening a debugger,
# the other saves memory.
CMD ["node", "--disable-sigusr1", "--max-semi-space-size=2", "src/cli/ferry.ts", "worker"]
