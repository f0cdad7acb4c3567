import { measureBacktests } from './backtests.ts'
import { intentCases } from './cases/intent-cases.ts'
import { kernelCases } from './cases/kernel-cases.ts'
import { fillWallets, transferCases } from './cases/transfer-cases.ts'
import { measureDeciding } from './deciding.ts'
import { measureIntentSizes } from './intent-sizes.ts'
import { measureSizes } from './ledger-sizes.ts'
import { CONNECTIONS, measureLoads } from './loads.ts'
import { measureMemory } from './memory.ts'
import { measureRelay } from './relay.ts'
import { loadTable, ratio, resultFinder, type Section, tableLine, wholeNumber } from './report.ts'
import { measureRuns } from './run-times.ts'
import { measureShared } from './shared-account.ts'
import { onStage } from './stage.ts'
import { measureStatements } from './statements.ts'
import { withEngine } from './temporal.ts'
import { warmStart } from './warm-start.ts'
import { measureWebhooks } from './webhooks.ts'

/** The parts that can be measured alone: `npm run bench -- intents relay`. */
export const parts: Readonly<Record<string, (folder: string) => Promise<Section>>> = {
  async start(folder) {
    const startSeconds = await warmStart(folder)
    return { figures: { startSeconds }, text: `warm start ${startSeconds.toFixed(1)} s` }
  },

  kernel: folder =>
    onStage(folder, 'kernel', async stage => {
      const cases = await kernelCases(stage)
      const memoryBefore = stage.api.memoryMegabytes()
      const loads = await measureLoads(stage, cases)
      const memoryAfter = stage.api.memoryMegabytes()
      const of = resultFinder(loads)
      const row = (title: string, cell: (connections: number) => string) =>
        tableLine([title, ...CONNECTIONS.map(cell)])
      const text = [
        loadTable(cases, loads, [
          row('the pipeline / Express', n => ratio(of('echo', n)?.perSecond, of('bare', n)?.perSecond)),
          row('the same by processor time', n =>
            ratio(of('bare', n)?.cpuMicroseconds, of('echo', n)?.cpuMicroseconds),
          ),
        ]),
        `memory ${wholeNumber(memoryBefore)} MB, after the loads ${wholeNumber(memoryAfter)} MB`,
      ].join('\n')
      return { figures: { ...loads, memoryBefore, memoryAfter }, text }
    }),

  intents: folder =>
    onStage(folder, 'intents', async stage => {
      const cases = await intentCases(stage)
      const intents = await measureLoads(stage, cases)
      return { figures: { intents }, text: loadTable(cases, intents) }
    }),

  transfers: folder =>
    onStage(folder, 'transfers', async stage => {
      await fillWallets(stage)
      const cases = transferCases(stage)
      const transfers = await measureLoads(stage, cases)
      return { figures: { transfers }, text: loadTable(cases, transfers) }
    }),

  decide: measureDeciding,
  shared: folder => onStage(folder, 'shared', measureShared),
  backtest: measureBacktests,
  relay: folder => withEngine(folder, 'relay', measureRelay),
  webhooks: folder => onStage(folder, 'webhooks', measureWebhooks),
  runs: folder => withEngine(folder, 'runs', measureRuns),
  memory: folder => withEngine(folder, 'memory', measureMemory),
  statements: folder => onStage(folder, 'statements', measureStatements),
  'ledger-sizes': measureSizes,
  'intent-sizes': measureIntentSizes,
}

/** The parts that run by default: those of large sizes take minutes and gigabytes, and run only by name. */
export const defaultParts = Object.keys(parts).filter(name => !name.endsWith('-sizes'))
