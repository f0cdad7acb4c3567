import { fillWallets, transferCases } from '../cases/transfer-cases.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import { answering } from './answering.ts'
import { blnk } from './blnk.ts'
import { cala } from './cala.ts'
import type { Comparison } from './compare.ts'
import { formance } from './formance.ts'

/** Transfers of a cent between random accounts with money, each answered once it is booked. */
export async function ledgerComparison(stage: Stage): Promise<Comparison> {
  await fillWallets(stage)
  const [transfer] = transferCases(stage)
  if (!transfer) throw new Error('no case for transfers')
  return {
    work: 'transfer',
    connections: usualOrShort([1, 32], [8]),
    ours: answering(transfer, stage.databaseSeconds),
    peers: [cala, blnk, formance],
  }
}
