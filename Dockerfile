# Ferry served: Postgres and Redis come from elsewhere (docker-compose.yml). The embedded Postgres and the pinned
# Node are optional dependencies, left out here: the base image is the Node.
FROM node:26-slim AS dependencies
WORKDIR /ferry
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:26-slim
ENV NODE_ENV=production FERRY_DATA_DIR=/tmp
WORKDIR /ferry
COPY --from=dependencies /ferry/node_modules ./node_modules
COPY package.json ./
COPY drizzle ./drizzle
COPY jobs ./jobs
COPY src ./src
USER node
# A worker touches this file three times a minute while it is not stuck and Postgres answers it.
HEALTHCHECK --interval=20s --timeout=3s --start-period=60s --start-interval=2s \
  CMD test -n "$(find "$FERRY_DATA_DIR/alive" -mmin -2)"
# Node itself, not npm: a signal must reach the worker, which drains before it goes. The flag keeps an idle one small.
CMD ["node", "--max-semi-space-size=2", "src/cli/ferry.ts", "worker"]
