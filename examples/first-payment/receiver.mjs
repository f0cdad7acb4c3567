// A receiver that accepts one webhook, verifies its signature, prints the event and exits.
// It needs Node 18: `AGENTPAY_WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs`.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'

const { AGENTPAY_WEBHOOK_SECRET: secret, PORT = 3000 } = process.env
if (!secret) {
  console.error('Set AGENTPAY_WEBHOOK_SECRET to the secret of the subscription.')
  process.exit(1)
}

/** Whether the service signed exactly this body within the last five minutes. */
function isGenuine(headers, body) {
  const { 'x-service-delivery-id': id, 'x-service-timestamp': timestamp } = headers
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest()
  const given = Buffer.from(String(headers['x-service-signature']).replace(/^sha256=/, ''), 'hex')
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected)
  return isSigned && Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
}

const server = createServer(async (request, response) => {
  const body = await buffer(request)
  if (!isGenuine(request.headers, body)) return response.writeHead(400).end()
  response.writeHead(204).end()
  const { event, data } = JSON.parse(body)
  const { amountEuros, merchant, status } = data
  const isPayment = amountEuros !== undefined && merchant !== undefined
  console.log(
    `${event}: ${isPayment ? `€ ${amountEuros.toFixed(2)} to ${merchant}, ${status}` : JSON.stringify(data)}`,
  )
  server.close()
  server.closeAllConnections()
})
server.listen(PORT, '127.0.0.1')
