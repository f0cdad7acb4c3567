import { findIntent } from '../../control/intents/index.ts'
import {
  type AssertionCode,
  type Envelope,
  openChallenge,
  type VerifiedAssertion,
  verifyAssertion,
} from '../../identity/passkeys/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { type PayeeRow, payeesById } from '../../money/beneficiaries/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import type { Subjects } from '../../statements/index.ts'
import { type Cents, decimal, NO_CENTS, sumOf } from '../../values/money.ts'
import type { challengeApi } from './api.ts'
import { type Part, partsOf, partsRefusal } from './transfer.ts'

interface SignedPayee {
  readonly name: string
  readonly iban: string | null
  readonly walletId: string | null
  readonly amountCents: Cents
}

export const paymentSubject = (
  fromWalletId: string,
  payees: readonly SignedPayee[],
): Subjects['payment'] => ({
  totalEuros: decimal(sumOf(payees.map(({ amountCents }) => amountCents))),
  currency: 'EUR',
  payees: payees.map(({ amountCents, ...payee }) => ({ ...payee, amountEuros: decimal(amountCents) })),
  fromWalletId,
})

type Wallets = ReadonlyMap<string, WalletRow>

/** Skips wallets that do not exist, since those were not signed. */
export const signedWallets = (parts: readonly Part[], wallets: Wallets): SignedPayee[] =>
  parts.flatMap(({ walletId, amountCents }) => {
    const wallet = wallets.get(walletId)
    return wallet ? [{ name: wallet.name, iban: wallet.iban, walletId, amountCents }] : []
  })

interface Payment {
  readonly toWalletId?: string | undefined
  readonly beneficiaryId?: string | undefined
  readonly amountCents: Cents
}

export function signedPayees(
  { toWalletId, beneficiaryId, amountCents }: Payment,
  wallets: Wallets,
  beneficiaries: ReadonlyMap<string, PayeeRow> | undefined,
): SignedPayee[] {
  if (toWalletId) return signedWallets([{ walletId: toWalletId, amountCents }], wallets)
  const payee = beneficiaries?.get(String(beneficiaryId))
  return payee ? [{ name: payee.name, iban: payee.iban, walletId: null, amountCents }] : []
}

/** Signatures are made only in the console. */
export const requiresSignature = ({ type }: Pick<Actor, 'type'>): boolean => type === 'console'

/** Verifies before any row is locked. Undefined if no signature is needed or sent. */
export async function signatureOf(
  envelope: Envelope | undefined,
  context: Parameters<typeof verifyAssertion>[1],
): Promise<VerifiedAssertion | AssertionCode | undefined> {
  return envelope || requiresSignature(context.actor) ? verifyAssertion(envelope, context) : undefined
}

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
  { amountCents, fromWalletId }: Body,
  parts: NonNullable<Body['parts']>,
  { sql, tenant, refuse }: ChallengeContext,
) {
  const divided = partsOf({ amountCents, parts })
  const problem = partsRefusal(divided)
  if (problem) return refuse(problem)
  const ids = new Set([fromWalletId, ...parts.map(({ walletId }) => walletId)])
  const wallets = await walletsById(sql, tenant, [...ids])
  return wallets.size < ids.size ? refuse('wallet_not_found') : signedWallets(divided, wallets)
}

async function payeeOf(
  { fromWalletId, toWalletId, beneficiaryId, amountCents = NO_CENTS }: Body,
  { sql, tenant, refuse }: ChallengeContext,
) {
  const ids = new Set([fromWalletId, ...(toWalletId ? [toWalletId] : [])])
  const [wallets, beneficiaries] = await Promise.all([
    walletsById(sql, tenant, [...ids]),
    payeesById(sql, tenant, beneficiaryId ? [beneficiaryId] : []),
  ])
  if (wallets.size < ids.size) return refuse('wallet_not_found')
  const payees = signedPayees({ toWalletId, beneficiaryId, amountCents }, wallets, beneficiaries)
  return payees.length > 0 ? payees : refuse('beneficiary_not_found')
}
