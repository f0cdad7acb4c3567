import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Mppx } from 'mppx/server'
import { printLine } from '../../../src/platform/output.ts'
import { mppxAccepting, mppxCardDetails } from '../../support/commerce/mppx-card.ts'

/** A merchant by the server of mppx that sells a report for a euro, at every address. */
let charges = 0
const payment = Mppx.create({
  methods: [mppxAccepting(() => `charge-${++charges}`)],
  realm: 'peer.example.com',
  secretKey: 'the-challenge-secret-of-a-peer-0123456789',
})
const charge = payment.charge({ amount: '100', currency: 'eur', methodDetails: mppxCardDetails })
const sold = JSON.stringify({ report: 'of the bench' })

const server = createServer(async (request, response) => {
  const { status } = await Mppx.toNodeListener(charge)(request, response)
  if (status !== 402) response.setHeader('content-type', 'application/json').end(sold)
})
server.listen(0, '127.0.0.1', () =>
  printLine(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
