import { walletReference } from '../../../src/money/wallets/wallet-reference.ts'
import type { TestService } from '../harness.ts'

/** What a payer writes for the money to come into this wallet. */
export async function referenceIn({ sql }: Pick<TestService, 'sql'>, walletId: string): Promise<string> {
  const [row] = await sql<{ number: string }>(
    'select reference_number as number from wallets where id = $1',
    [walletId],
  )
  return walletReference(BigInt(row?.number ?? 0))
}
