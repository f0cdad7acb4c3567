import { creditorReferenceFor } from '../../../src/money/references/register.ts'
import type { TestService } from '../harness.ts'

/** The reference by which a payment is matched to a wallet. */
export async function referenceIn({ sql }: Pick<TestService, 'sql'>, walletId: string): Promise<string> {
  const [row] = await sql<{ number: string }>(
    'select reference_number as number from wallets where id = $1',
    [walletId],
  )
  return creditorReferenceFor(BigInt(row?.number ?? 0))
}
