import { randomUUID } from 'node:crypto'
import { CompactEncrypt, importJWK, type JWK } from 'jose'
import { Method, Credential as PeersCredential } from 'mppx'
import { Mppx, stripe } from 'mppx/client'
import { Agent, fetch as undiciFetch } from 'undici'
import {
  type ChargeMethod,
  type ChargeRequest,
  decodeChargeRequest,
  isUnusableInput,
  parseChallenges,
  readCardDetails,
  serializeCredential,
} from '../../../src/mpp/index.ts'
import { mppxCard } from '../../support/commerce/mppx-card.ts'
import type { Measured } from '../load/load.ts'

/** The work of a client without a service, as JSON in its first argument. */
export interface PayerJob {
  readonly url: string
  /** Pays each of these addresses once instead, and ends with the last one. */
  readonly urls?: readonly string[]
  readonly client: 'bare' | 'mppx'
  readonly method: ChargeMethod
  readonly connections: number
  readonly seconds: number
}

/** The printed result, with the processor time of this program for one payment. */
export interface PayerMeasured extends Measured {
  readonly cpuMicroseconds: number
}

type Pay = (url: string) => Promise<number>

const WARM_UP_MS = 700

const plain = Buffer.from(
  JSON.stringify({
    token: {
      paymentToken: '4242424242424242',
      tokenExpirationMonth: '12',
      tokenExpirationYear: '2030',
      eci: '07',
    },
    dynamicData: {
      dynamicDataValue: 'A'.repeat(190),
      dynamicDataType: 'CARD_APPLICATION_CRYPTOGRAM_LONG_FORM',
      dynamicDataExpiration: 0,
    },
  }),
)

/** As the sandbox's processor encrypts: the key is parsed anew for each payment. */
async function payloadFor(jwk: JWK): Promise<Record<string, string>> {
  const key = await importJWK(jwk, 'RSA-OAEP-256')
  const encryptedPayload = await new CompactEncrypt(plain)
    .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: String(jwk.kid) })
    .encrypt(key)
  return {
    encryptedPayload,
    network: 'visa',
    panLastFour: '4242',
    panExpirationMonth: '12',
    panExpirationYear: '2030',
  }
}

/** The sandbox makes shared tokens without a call, too. */
const sharedToken = (): string => `spt_${randomUUID()}`

function bareClient({ connections, method }: PayerJob): Pay {
  const dispatcher = new Agent({ connections })
  return async url => {
    const asked = await undiciFetch(url, { dispatcher })
    await asked.arrayBuffer()
    const { challenges } = parseChallenges([asked.headers.get('www-authenticate') ?? ''])
    const [challenge] = challenges
    if (!challenge) throw new Error('no challenge')
    const request = decodeChargeRequest(challenge)
    if (isUnusableInput(request)) throw new Error(request.problem)
    const payload = method === 'card' ? await cardPayloadFor(request) : { spt: sharedToken() }
    const headers = { authorization: serializeCredential({ challenge, payload }) }
    const paid = await undiciFetch(url, { dispatcher, headers })
    await paid.arrayBuffer()
    return paid.headers.has('payment-receipt') ? paid.status : 500
  }
}

async function cardPayloadFor(request: ChargeRequest) {
  const details = readCardDetails(request)
  if (isUnusableInput(details) || !('encryptionJwk' in details.key)) throw new Error('no key')
  return payloadFor(details.key.encryptionJwk as unknown as JWK)
}

/** The client of mppx, with a card that encrypts in the same way. */
function peersClient({ connections, method: name }: PayerJob): Pay {
  const dispatcher = new Agent({ connections })
  const fetch = ((input: string, init: object) => undiciFetch(input, { ...init, dispatcher })) as never
  const byCard = Method.toClient(mppxCard, {
    async createCredential({ challenge }) {
      const payload = await payloadFor(challenge.request.methodDetails.encryptionJwk as JWK)
      return PeersCredential.serialize({ challenge, payload })
    },
  })
  const byStripe = stripe.charge({ paymentMethod: 'pm_bench', createToken: async () => sharedToken() })
  const client = Mppx.create({ methods: [name === 'card' ? byCard : byStripe], polyfill: false, fetch })
  return async url => {
    const paid = await client.fetch(url)
    await paid.arrayBuffer()
    return paid.headers.has('payment-receipt') ? paid.status : 500
  }
}

const job = JSON.parse(process.argv[2] ?? '') as PayerJob
const pay = job.client === 'bare' ? bareClient(job) : peersClient(job)
const urls = job.urls?.values()
const latencies: number[] = []
let failed = 0
let sent = 0
const cpuBefore = process.cpuUsage()
// Addresses that are paid once each are all measured.
const from = performance.now() + (urls ? 0 : WARM_UP_MS)
const until = from + job.seconds * 1_000

async function keepPaying(): Promise<void> {
  while (performance.now() < until) {
    const url = urls ? urls.next().value : job.url
    if (url === undefined) return
    const began = performance.now()
    const status = await pay(url)
    sent++
    const at = performance.now()
    if (at < from || at > until) continue
    latencies.push(at - began)
    if (status !== 200) failed++
  }
}

await Promise.all(Array.from({ length: job.connections }, keepPaying))
const seconds = (Math.min(performance.now(), until) - from) / 1_000
const cpu = process.cpuUsage(cpuBefore)
latencies.sort((a, b) => a - b)
const quantile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
const measured: PayerMeasured = {
  perSecond: latencies.length / seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  p999: quantile(0.999),
  longest: quantile(1),
  failed,
  sent,
  cpuMicroseconds: (cpu.user + cpu.system) / sent,
}
process.stdout.write(JSON.stringify(measured), () => process.exit(0))
