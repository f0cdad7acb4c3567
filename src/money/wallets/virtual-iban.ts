import type { Mode } from '../../kernel/contract/actor.ts'

/** The bank of the IBANs of test wallets. */
export interface WalletBank {
  /** A German bank code, eight digits. */
  readonly code: string
  readonly bic: string
}

/** `DE` as digits by ISO 13616, and two zeros in place of the check digits. */
const DE00 = '131400'

/** The IBAN of a test wallet. Live wallets have none until a bank provides virtual IBANs: money sent to them would be lost. */
export function virtualIban(
  mode: Mode,
  { code, bic }: WalletBank,
  number: bigint,
): { iban: string; bic: string } | { iban: null; bic: null } {
  if (mode === 'live') return { iban: null, bic: null }
  const account = code + String(number).padStart(10, '0')
  const check = 98n - (BigInt(account + DE00) % 97n)
  return { iban: `DE${String(check).padStart(2, '0')}${account}`, bic }
}
