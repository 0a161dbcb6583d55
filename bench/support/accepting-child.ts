import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/* Run by `import-large.ts`: a platform that accepts every call, remembers nobody, and says where it is. */

process.on('disconnect', () => process.exit())
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"request_id":"bench","data":{}}')
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
