import { answerOf, node, type Served, serve } from '../child.ts'
import { requestUrls } from '../machine/being-paid.ts'
import type { PayerJob, PayerMeasured } from '../machine/payer.ts'
import { fillPayers, openApi, payingCase } from '../machine/payments.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { answering } from './answering.ts'
import type { Comparison, Contestant, Peer, Work } from './compare.ts'

const CONNECTIONS = usualOrShort([1, 8], [8])
const SECONDS = usualOrShort(2, 0.5)
/** Addresses to pay: they fit into one argument of a program. */
const SOLD = usualOrShort(600, 200)
const PATIENCE_SECONDS = 30

const MPPX = 'mppx 0.11.0'

const pay = (job: Omit<PayerJob, 'client'>): Promise<PayerMeasured> =>
  answerOf<PayerMeasured>('test/bench/machine/payer.ts', { ...job, client: 'mppx' } satisfies PayerJob)

/** Payments to a merchant that takes every card: by `POST /v1/mpp/pay`, each on its intent, and by the client of mppx. */
export async function payingComparison(stage: Stage): Promise<Comparison> {
  const merchant = await serve(node('test/bench/machine/merchant.ts'), `${stage.folder}/merchant.log`, {})
  stage.closeLater(merchant.stop)
  await fillPayers(stage)
  const url = `${merchant.url}/report`
  const api = await openApi(stage)
  const client: Contestant = {
    measure: connections => pay({ url, method: 'card', connections, seconds: SECONDS }),
  }
  return {
    work: 'paying by 402',
    connections: CONNECTIONS,
    ours: answering(payingCase(stage, api, url, 'paying'), stage.databaseSeconds),
    peers: [{ name: `${MPPX}, client`, absence: () => null, open: async () => client }],
  }
}

/** Requests that the client of mppx pays: ours, each once, and a route of a server of mppx. */
export function chargingComparison(stage: Stage): Comparison {
  const ours: Contestant = {
    measure: async connections => {
      const urls = await requestUrls(stage, SOLD)
      return charged(urls, connections, () => stage.api.cpuSeconds() + stage.databaseSeconds())
    },
  }
  return { work: 'being paid by 402', connections: CONNECTIONS, ours, peers: [mppxServer] }
}

const mppxServer: Peer = {
  name: `${MPPX}, server`,
  absence: () => null,
  async open({ folder, closeLater }) {
    const server: Served = await serve(node('test/bench/peers/mppx-merchant.ts'), `${folder}/mppx.log`, {})
    closeLater(server.stop)
    const urls = Array.from({ length: SOLD }, (_, n) => `${server.url}/${n}`)
    return { measure: connections => charged(urls, connections, server.cpuSeconds) }
  },
}

async function charged(
  urls: readonly string[],
  connections: number,
  cpuSeconds: () => number,
): Promise<Work> {
  const before = cpuSeconds()
  const job = { url: '', urls, method: 'card', connections, seconds: PATIENCE_SECONDS } as const
  const { perSecond, p50, p99, sent, failed } = await pay(job)
  if (failed > 0) throw new Error(`${failed} payments failed`)
  return { perSecond, p50, p99, cpuMicroseconds: ((cpuSeconds() - before) * 1e6) / sent }
}
