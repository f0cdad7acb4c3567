import { printLine } from '../../../src/platform/output.ts'
import type { Section } from '../report.ts'
import { onStage, type Stage } from '../stage.ts'
import { type Comparison, compare, type NotRun, type Row, tableOf } from './compare.ts'
import { ledgerComparison } from './ledgers.ts'
import { chargingComparison, payingComparison } from './paid.ts'
import { senderComparison } from './senders.ts'

const comparisons = {
  'peers-ledgers': ledgerComparison,
  'peers-webhooks': senderComparison,
  'peers-paying': payingComparison,
  'peers-charging': chargingComparison,
} satisfies Record<string, (stage: Stage) => Promise<Comparison> | Comparison>

type ComparisonName = keyof typeof comparisons

const all = Object.keys(comparisons) as ComparisonName[]

/** Other makers' programs beside ours, in turns, each comparison on a fresh database. */
export async function measurePeers(folder: string, names = all): Promise<Section> {
  const rows: (Row | NotRun)[] = []
  for (const name of names) {
    printLine(`  ${name}`)
    const compared = onStage(folder, name, async stage =>
      compare(await comparisons[name](stage), stage.folder),
    )
    rows.push(...(await compared))
  }
  return { figures: { peers: rows }, text: tableOf(rows) }
}
