import { Agent, fetch } from 'undici'
import { type PaymentChallenge, parseChallenges, serializeChallenge } from '../../../src/mpp/index.ts'
import { credentialFor } from '../../support/commerce/machine-payer.ts'
import type { Measured } from '../load/load.ts'

/** The work of a program that pays requests, as JSON in its first argument. */
export interface SettlerJob {
  /** The addresses to pay, each once. */
  readonly urls: readonly string[]
  readonly connections: number
  /** Pays by shared tokens, each on an intent of its own from this number on. Null: by a test token of a card. */
  readonly payer: { readonly apiUrl: string; readonly token: string; readonly from: number } | null
}

const { urls, connections, payer } = JSON.parse(process.argv[2] ?? '') as SettlerJob
const dispatcher = new Agent({ connections })

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const keepWorking = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: connections }, keepWorking))
}

async function sharedCredential(url: string, challenge: PaymentChallenge, number: number): Promise<string> {
  const { apiUrl, token } = payer ?? { apiUrl: '', token: '' }
  const body = { intentId: `intent_card_${number}`, challenge: serializeChallenge(challenge), url }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const minted = await fetch(`${apiUrl}/v1/mpp/credentials`, {
    ...{ dispatcher, method: 'POST', headers, body: JSON.stringify(body) },
  })
  const { credential } = (await minted.json()) as { credential?: string }
  if (credential === undefined) throw new Error(`${minted.status} without a credential`)
  return credential
}

const credentials: { readonly url: string; readonly authorization: string }[] = []
const accepts = { headers: { 'accept-payment': payer ? 'stripe/charge' : 'card/charge' } }
let next = payer?.from ?? 0
await each(urls, async url => {
  const asked = await fetch(url, { dispatcher, ...accepts })
  await asked.arrayBuffer()
  const [challenge] = parseChallenges([asked.headers.get('www-authenticate') ?? '']).challenges
  if (!challenge) throw new Error(`${asked.status} without a challenge`)
  const authorization = payer ? await sharedCredential(url, challenge, next++) : credentialFor(challenge)
  credentials.push({ url, authorization })
})

const latencies: number[] = []
let failed = 0
const began = performance.now()
await each(credentials, async ({ url, authorization }) => {
  const sentAt = performance.now()
  const paid = await fetch(url, { dispatcher, headers: { authorization } })
  await paid.arrayBuffer()
  latencies.push(performance.now() - sentAt)
  if (paid.status !== 200 || !paid.headers.has('payment-receipt')) failed++
})
const seconds = (performance.now() - began) / 1_000
latencies.sort((a, b) => a - b)
const quantile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
const measured: Measured = {
  perSecond: latencies.length / seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  p999: quantile(0.999),
  longest: quantile(1),
  failed,
  sent: latencies.length,
}
process.stdout.write(JSON.stringify(measured), () => process.exit(0))
