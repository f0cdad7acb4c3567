import { setTimeout as sleep } from 'node:timers/promises'
import { aWallet } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import type { Account } from './installation.ts'

/** A payment as its client saw it. Times are in milliseconds of the machine's clock. */
export interface Payment {
  readonly key: string
  readonly sentAt: number
  readonly answeredAt: number
  /** Undefined if both attempts failed. */
  readonly id: string | undefined
  readonly wasRetried: boolean
  readonly failure: string | undefined
}

export interface Payer extends Account {
  readonly fromWalletId: string
  readonly toWalletId: string
}

export interface Load {
  readonly payments: readonly Payment[]
  /** Waits for this many more payments. */
  more(count: number): Promise<void>
  stop(): Promise<readonly Payment[]>
}

const LANES = 4
const REST_MS = 20
const RETRY_MS = 200
const PATIENCE_MS = 30_000

export async function aPayer(account: Account): Promise<Payer> {
  const [from, to] = [await aWallet(account.client, 10_000), await aWallet(account.client)]
  return { ...account, fromWalletId: from.id, toWalletId: to.id }
}

let lastKey = 0

/** Payments of a cent by several clients. Each retries once, at the other API process and with the same key. */
export function startLoad(payer: Payer, urls: readonly string[]): Load {
  const payments: Payment[] = []
  let isStopped = false
  const lane = async (): Promise<void> => {
    while (!isStopped) {
      payments.push(await pay(payer, urls, ++lastKey))
      await sleep(REST_MS)
    }
  }
  const ended = Promise.all(Array.from({ length: LANES }, lane))
  return {
    payments,
    async more(count) {
      const enough = payments.length + count
      await until(`${count} more payments`, () => payments.length >= enough)
    },
    async stop() {
      isStopped = true
      await ended
      return payments
    },
  }
}

async function pay(payer: Payer, urls: readonly string[], number: number): Promise<Payment> {
  const key = `drill-${number}`
  const urlOf = (attempt: number): string => urls[(number + attempt) % urls.length] ?? ''
  const sentAt = Date.now()
  let answer = await send(payer, urlOf(0), key)
  const wasRetried = answer.failure !== undefined
  if (wasRetried) {
    await sleep(RETRY_MS)
    answer = await send(payer, urlOf(1), key)
  }
  return { key, sentAt, answeredAt: Date.now(), wasRetried, ...answer }
}

/** Sends a payment, or repeats it: the same key gets the recorded answer. */
export async function send(
  { key: token, fromWalletId, toWalletId }: Payer,
  url: string,
  key: string,
): Promise<Pick<Payment, 'id' | 'failure'>> {
  const body = { fromWalletId, toWalletId, amountEuros: 0.01, reference: key }
  try {
    const response = await fetch(`${url}/transfers`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await response.text()
    if (response.status !== 201) return { id: undefined, failure: `${response.status} ${text}` }
    return { id: JSON.parse(text).id, failure: undefined }
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    return { id: undefined, failure: cause?.code ?? message }
  }
}
