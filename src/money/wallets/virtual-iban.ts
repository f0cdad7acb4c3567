import type { Mode } from '../../kernel/contract/actor.ts'

/** The bank at which the wallets of test mode have their numbers. */
export interface WalletBank {
  /** Eight digits, as German banks have. */
  readonly code: string
  readonly bic: string
}

/** The letters D and E as ISO 13616 counts them, and room for the check digits. */
const DE00 = '131400'

/** A wallet's own number. Live wallets have none before there is a rail that knows them: money sent there would be lost. */
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
