import type { ExchangeRates } from '../../ports/exchange-rates.ts'
import type { OutboundHttp } from '../../ports/outbound.ts'
import { parseReferenceRates } from './ecb-file.ts'

const TIMEOUT_MS = 10_000
/** The file has 2 kB. */
const MAX_BYTES = 65_536

export const ecbRates = (url: string, outbound: OutboundHttp, fetchSoon: () => void): ExchangeRates => ({
  name: 'ecb',
  fetchSoon,
  async latest() {
    const answer = await outbound.send({ url, method: 'GET', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
    if (answer.kind !== 'answered') return { failure: answer.message }
    if (answer.status !== 200 || answer.cut)
      return { failure: `The ECB answered ${answer.cut ? 'with more than 64 KiB' : answer.status}.` }
    return parseReferenceRates(Buffer.from(answer.body).toString('utf8'))
  },
})
