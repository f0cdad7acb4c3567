import { printLine } from '../../../src/platform/output.ts'
import type { Section } from '../report.ts'
import { onStage, type Stage } from '../stage.ts'
import { type Comparison, compare, type NotRun, type Row, tableOf } from './compare.ts'
import { ledgerComparison } from './ledgers.ts'
import { chargingComparison, payingComparison } from './paid.ts'
import { senderComparison } from './senders.ts'

const comparisons: Readonly<Record<string, (stage: Stage) => Promise<Comparison> | Comparison>> = {
  'peers-ledgers': ledgerComparison,
  'peers-webhooks': senderComparison,
  'peers-paying': payingComparison,
  'peers-charging': chargingComparison,
}

/** Other makers' programs beside ours, in turns, each comparison on a fresh database. */
export async function measurePeers(folder: string): Promise<Section> {
  const rows: (Row | NotRun)[] = []
  for (const [name, prepare] of Object.entries(comparisons)) {
    printLine(`  ${name}`)
    rows.push(...(await onStage(folder, name, async stage => compare(await prepare(stage), stage.folder))))
  }
  return { figures: { peers: rows }, text: tableOf(rows) }
}
