import { NoAnswer } from '../../derive/retry.ts'
import { checkOptions, fetchOptions } from './known-options.ts'
import type { Settings } from './options.ts'

/** A request to a merchant, and what may pay for it. */
export interface FetchOptions {
  /** An approved intent for this merchant, which pays if the answer is a 402. */
  readonly intentId: string
  /** Optional if the intent names its card, or the agent has only one active card. */
  readonly cardId?: string
  /** Default: GET, or POST with a body. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

/** Without it, a merchant may offer one method alone, and not the one that the agent's policy allows. */
const PAYABLE = 'card/charge, stripe/charge'

interface Minted {
  readonly challengeId: string
  readonly header: string
  readonly credential: string | null
}

export type Mint = (
  input: Readonly<Record<string, unknown>>,
  options: { readonly signal?: AbortSignal },
) => Promise<Minted>

/** A repeated call does not show the credential again. */
export function shownCredential({ credential }: Minted): string {
  if (credential === null)
    throw new NoAnswer(
      'mpp.mint: the answer with the credential was lost. Nothing was sent to the merchant.',
      true,
    )
  return credential
}

/**
 * Sends the request, and once more with a credential if it is answered with a challenge. It pays once: if the
 * second answer is lost, the money stays held, and the intent is not paid again.
 */
export async function fetchPaid(
  url: string,
  options: FetchOptions,
  { fetch }: Pick<Settings, 'fetch'>,
  mint: Mint,
): Promise<Response> {
  checkOptions('pay.fetch', options, fetchOptions, ['intentId'])
  const { intentId, cardId, signal, headers = {}, body } = options
  const { method = body === undefined ? 'GET' : 'POST' } = options
  const stop = signal ? { signal } : {}
  const content = body === undefined ? {} : { body }
  // A redirection would carry the credential to another merchant.
  const request = { method, ...content, ...stop, redirect: 'manual' } as const
  const asking = new Headers(headers)
  if (!asking.has('accept-payment')) asking.set('accept-payment', PAYABLE)
  const answer = await fetch(url, { ...request, headers: asking })
  const challenge = answer.headers.get('www-authenticate')
  if (answer.status !== 402 || challenge === null) return answer
  await answer.body?.cancel()
  const card = cardId === undefined ? {} : { cardId }
  const minted = await mint({ url, challenge, intentId, ...card, method, ...content }, stop)
  const paying = new Headers(asking)
  paying.set(minted.header, shownCredential(minted))
  return fetch(url, { ...request, headers: paying })
}
