import { findIntent } from '../../control/intents/index.ts'
import {
  type AssertionRefusalCode,
  openPasskeyChallenge,
  type VerifiedAssertion,
  verifyAssertion,
  type WebauthnAssertion,
} from '../../identity/passkeys/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { type BeneficiaryRow, beneficiariesById } from '../../money/beneficiaries/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import type { Subjects } from '../../statements/index.ts'
import { type Cents, formatDecimal, NO_CENTS, sumOf } from '../../values/money.ts'
import type { transferChallengeApi } from './api.ts'
import { type SplitPart, splitParts, splitPartsRefusal } from './transfer.ts'

interface SignedPayee {
  readonly name: string
  readonly iban: string | null
  readonly walletId: string | null
  readonly amountCents: Cents
}

export const signedPaymentSubject = (
  fromWalletId: string,
  payees: readonly SignedPayee[],
): Subjects['payment'] => ({
  totalEuros: formatDecimal(sumOf(payees.map(({ amountCents }) => amountCents))),
  currency: 'EUR',
  payees: payees.map(({ amountCents, ...payee }) => ({ ...payee, amountEuros: formatDecimal(amountCents) })),
  fromWalletId,
})

type Wallets = ReadonlyMap<string, WalletRow>

/** Skips wallets that do not exist, since those were not signed. */
export const signedWallets = (parts: readonly SplitPart[], wallets: Wallets): SignedPayee[] =>
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
  beneficiaries: ReadonlyMap<string, BeneficiaryRow> | undefined,
): SignedPayee[] {
  if (toWalletId) return signedWallets([{ walletId: toWalletId, amountCents }], wallets)
  const payee = beneficiaries?.get(String(beneficiaryId))
  return payee ? [{ name: payee.name, iban: payee.iban, walletId: null, amountCents }] : []
}

export const requiresPaymentSignature = ({ type }: Pick<Actor, 'type'>): boolean => type === 'console'

/** Verifies before any row is locked. Undefined if no signature is needed or sent. */
export async function verifyPaymentSignature(
  envelope: WebauthnAssertion | undefined,
  context: Parameters<typeof verifyAssertion>[1],
): Promise<VerifiedAssertion | AssertionRefusalCode | undefined> {
  return envelope || requiresPaymentSignature(context.actor) ? verifyAssertion(envelope, context) : undefined
}

type Challenge = HandlerOf<typeof transferChallengeApi.challenge>
type Body = Parameters<Challenge>[0]['body']
type ChallengeContext = ContextOf<typeof transferChallengeApi.challenge>

export const createTransferChallenge: Challenge = async ({ body }, context) => {
  const { em, refuse } = context
  if (body.intentId && !(await findIntent(em, body.intentId))) return refuse('intent_not_found')
  const payees = body.parts ? await payeesOfSplit(body, body.parts, context) : await payeeOf(body, context)
  if (!Array.isArray(payees)) return payees
  const members = signedPaymentSubject(body.fromWalletId, payees)
  return openPasskeyChallenge({ kind: 'payment', subjectId: body.fromWalletId, members }, context)
}

async function payeesOfSplit(
  { amountCents, fromWalletId }: Body,
  parts: NonNullable<Body['parts']>,
  { sql, tenant, refuse }: ChallengeContext,
) {
  const divided = splitParts({ amountCents, parts })
  const problem = splitPartsRefusal(divided)
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
    beneficiariesById(sql, tenant, beneficiaryId ? [beneficiaryId] : []),
  ])
  if (wallets.size < ids.size) return refuse('wallet_not_found')
  const payees = signedPayees({ toWalletId, beneficiaryId, amountCents }, wallets, beneficiaries)
  return payees.length > 0 ? payees : refuse('beneficiary_not_found')
}
