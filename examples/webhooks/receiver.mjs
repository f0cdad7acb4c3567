// A receiver of webhooks. It needs the package agentpay: `AGENTPAY_WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs`.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, WebhookRejected } from 'agentpay/verify'

const { AGENTPAY_WEBHOOK_SECRET: secret, PORT = '3000' } = process.env
if (!secret) {
  console.error('Set AGENTPAY_WEBHOOK_SECRET to the secret of the subscription.')
  process.exit(1)
}
// Processed events, by id. A receiver that must survive a restart stores these in its database.
const known = new Set()

async function receive(request) {
  const { eventId, event, data } = verifyWebhook(request.headers, await buffer(request), secret)
  if (known.has(eventId)) return 'known'
  known.add(eventId)
  console.log(`${event}: ${data.agentId ?? eventId}`)
  return 'taken'
}

const server = createServer((request, response) => {
  receive(request).then(
    word => response.writeHead(200).end(word),
    error => response.writeHead(error instanceof WebhookRejected ? 400 : 500).end(),
  )
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))
