import { afterAll } from '@jest/globals'
import { compactDecrypt } from 'jose'
import {
  type CardPayload,
  isUnusableInput,
  type PaymentChallenge,
  readCardPayload,
} from '../../../src/mpp/index.ts'
import { until } from '../until.ts'
import { merchantKey } from './challenges.ts'
import { type Merchant, openMerchant, type Visit } from './merchant-server.ts'

export { answerWith, type Conduct, demand, type Merchant, receiptFor, sell } from './merchant-server.ts'

export async function startMerchant(): Promise<Merchant> {
  const merchant = await openMerchant()
  afterAll(() => merchant.close())
  return merchant
}

export async function openedPayment({ credential }: Visit): Promise<{
  readonly payload: CardPayload
  readonly challenge: PaymentChallenge
  readonly header: object
  readonly token: unknown
}> {
  if (!credential) throw new Error('a visit without a credential')
  const payload = readCardPayload(credential)
  if (isUnusableInput(payload)) throw new Error(payload.problem)
  const { plaintext, protectedHeader } = await compactDecrypt(
    payload.encryptedPayload,
    merchantKey.privateKey,
  )
  const token: unknown = JSON.parse(Buffer.from(plaintext).toString())
  return { payload, challenge: credential.challenge, header: protectedHeader, token }
}

type Answer = { readonly status: number; readonly code?: string | undefined } | undefined

/** The answer to a repetition once the lease of the interrupted process has expired. */
export function decided(repeat: () => Promise<Answer>): Promise<Answer> {
  return until('the call is decided', async () => {
    const answer = await repeat()
    return answer && answer.code !== 'in_progress' ? answer : undefined
  })
}
