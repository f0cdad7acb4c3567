import type { Ports } from '../../kernel/contract/ports.ts'
import type { PayableWallet } from './payable-wallets.ts'

/** The account to which money for a wallet is sent. */
interface SepaAccount {
  readonly iban: string
  readonly bic: string | null
  readonly holder: string
}

/** The wallet's own account, as in test mode, else the shared one of live money; undefined where there is none. */
export function sepaAccountOf(
  { iban, bic }: Pick<PayableWallet, 'iban' | 'bic'>,
  { holder, ...shared }: Ports['collection'],
): SepaAccount | undefined {
  const account = iban ? { iban, bic } : shared
  return account.iban ? { iban: account.iban, bic: account.bic, holder } : undefined
}
