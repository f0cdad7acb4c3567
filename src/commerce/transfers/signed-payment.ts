import {
  type AssertionCode,
  type Envelope,
  type Verified,
  verifyAssertion,
} from '../../identity/passkeys/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { PayeeRow } from '../../money/beneficiaries/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import type { Subjects } from '../../statements/index.ts'
import { decimal, type Euros } from '../../values/money.ts'
import type { Part } from './transfer.ts'

/** A payee as a person signs it: a wallet of the owner, or a beneficiary by IBAN. */
interface SignedPayee {
  readonly name: string
  readonly iban: string | null
  readonly walletId: string | null
  readonly amountEuros: Euros
}

/** What a person signs to pay: the sum, and every payee with account and amount. */
export const paymentSubject = (
  fromWalletId: string,
  payees: readonly SignedPayee[],
): Subjects['payment'] => ({
  totalEuros: decimal(payees.reduce((sum, { amountEuros }) => sum + amountEuros, 0n)),
  currency: 'EUR',
  payees: payees.map(payee => ({ ...payee, amountEuros: decimal(payee.amountEuros) })),
  fromWalletId,
})

type Wallets = ReadonlyMap<string, WalletRow>

/** The payees of a split. A wallet that there is not is left out: nobody has signed that. */
export const signedWallets = (parts: readonly Part[], wallets: Wallets): SignedPayee[] =>
  parts.flatMap(({ walletId, amountEuros }) => {
    const wallet = wallets.get(walletId)
    return wallet ? [{ name: wallet.name, iban: wallet.iban, walletId, amountEuros }] : []
  })

interface Payment {
  readonly toWalletId?: string | undefined
  readonly beneficiaryId?: string | undefined
  readonly amountEuros: Euros
}

/** The payee of a transfer; none where there is no such wallet or beneficiary. */
export function signedPayees(
  { toWalletId, beneficiaryId, amountEuros }: Payment,
  wallets: Wallets,
  beneficiaries: ReadonlyMap<string, PayeeRow> | undefined,
): SignedPayee[] {
  if (toWalletId) return signedWallets([{ walletId: toWalletId, amountEuros }], wallets)
  const payee = beneficiaries?.get(String(beneficiaryId))
  return payee ? [{ name: payee.name, iban: payee.iban, walletId: null, amountEuros }] : []
}

/** Whether a person has to sign: in the console, and nowhere else. */
export const mustSign = ({ type }: Pick<Actor, 'type'>): boolean => type === 'console'

/** The signature that came with a request, verified before any row is locked; undefined where none is needed or sent. */
export async function signatureOf(
  envelope: Envelope | undefined,
  context: Parameters<typeof verifyAssertion>[1],
): Promise<Verified | AssertionCode | undefined> {
  return envelope || mustSign(context.actor) ? verifyAssertion(envelope, context) : undefined
}
