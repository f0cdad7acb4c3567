import { findIntent } from '../../control/intents/index.ts'
import { openChallenge } from '../../identity/passkeys/index.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { payeesById } from '../../money/beneficiaries/index.ts'
import { walletsById } from '../../money/wallets/index.ts'
import type { challengeApi } from './challenge-api.ts'
import { paymentSubject, signedPayees, signedWallets } from './signed-payment.ts'
import { partsOf, partsRefusal } from './split.ts'

type Challenge = HandlerOf<typeof challengeApi.challenge>
type Body = Parameters<Challenge>[0]['body']
type ChallengeContext = ContextOf<typeof challengeApi.challenge>

export const challenge: Challenge = async ({ body }, context) => {
  const { records, refuse } = context
  if (body.intentId && !(await findIntent(records, body.intentId))) return refuse('intent_not_found')
  const payees = body.parts ? await payeesOfSplit(body, body.parts, context) : await payeeOf(body, context)
  if (!Array.isArray(payees)) return payees
  const members = paymentSubject(body.fromWalletId, payees)
  return openChallenge({ kind: 'payment', subjectId: body.fromWalletId, members }, context)
}

async function payeesOfSplit(
  { amountEuros, fromWalletId }: Body,
  parts: NonNullable<Body['parts']>,
  { sql, tenant, refuse }: ChallengeContext,
) {
  const divided = partsOf({ amountEuros, parts })
  const problem = partsRefusal(divided)
  if (problem) return refuse(problem)
  const ids = new Set([fromWalletId, ...parts.map(({ walletId }) => walletId)])
  const wallets = await walletsById(sql, tenant, [...ids])
  return wallets.size < ids.size ? refuse('wallet_not_found') : signedWallets(divided, wallets)
}

async function payeeOf(
  { fromWalletId, toWalletId, beneficiaryId, amountEuros = 0n }: Body,
  { sql, tenant, refuse }: ChallengeContext,
) {
  const ids = new Set([fromWalletId, ...(toWalletId ? [toWalletId] : [])])
  const [wallets, beneficiaries] = await Promise.all([
    walletsById(sql, tenant, [...ids]),
    payeesById(sql, tenant, beneficiaryId ? [beneficiaryId] : []),
  ])
  if (wallets.size < ids.size) return refuse('wallet_not_found')
  const payees = signedPayees({ toWalletId, beneficiaryId, amountEuros }, wallets, beneficiaries)
  return payees.length > 0 ? payees : refuse('beneficiary_not_found')
}
