import { CONNECTIONS, measureLoads } from './loads.ts'
import { loadTable, ratio, resultFinder, type Section, tableLine, wholeNumber } from './report.ts'
import { onStage } from './stage.ts'

/**
 * The parts of the bench: `npm run bench -- intents relay`. Each part imports its files only when it runs, so
 * that `plain` runs in the checkout of an older version, where the imports of others may fail.
 */
export const parts: Readonly<Record<string, (folder: string) => Promise<Section>>> = {
  async start(folder) {
    const { warmStart } = await import('./starts/warm-start.ts')
    const startSeconds = await warmStart(folder)
    return { figures: { startSeconds }, text: `warm start ${startSeconds.toFixed(1)} s` }
  },

  kernel: folder =>
    onStage(folder, 'kernel', async stage => {
      const { kernelCases } = await import('./cases/kernel-cases.ts')
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
      const { intentCases } = await import('./cases/intent-cases.ts')
      const cases = await intentCases(stage)
      const intents = await measureLoads(stage, cases)
      return { figures: { intents }, text: loadTable(cases, intents) }
    }),

  async approvals(folder) {
    const { measureApprovals } = await import('./approvals.ts')
    return onStage(folder, 'approvals', measureApprovals)
  },

  async authorizations(folder) {
    const { measureAuthorizations } = await import('./cards/authorizations.ts')
    return onStage(folder, 'authorizations', measureAuthorizations)
  },

  async 'machine-payments'(folder) {
    const { measureMachinePayments } = await import('./machine/measured.ts')
    return onStage(folder, 'machine-payments', measureMachinePayments)
  },

  async 'machine-paid'(folder) {
    const { measurePaying } = await import('./machine/measured.ts')
    return onStage(folder, 'machine-paid', measurePaying)
  },

  async 'machine-received'(folder) {
    const { measureReceived } = await import('./machine/measured.ts')
    return onStage(folder, 'machine-received', measureReceived)
  },

  async 'machine-beside'(folder) {
    const { measureBeside } = await import('./machine/measured.ts')
    return onStage(folder, 'machine-beside', measureBeside)
  },

  async 'machine-runs'(folder) {
    const [{ withEngine }, { measureMachineRuns }] = await Promise.all([
      import('./temporal.ts'),
      import('./machine/runs.ts'),
    ])
    return withEngine(folder, 'machine-runs', measureMachineRuns)
  },

  async price(folder) {
    const [{ withEngine }, { measurePrice }] = await Promise.all([
      import('./temporal.ts'),
      import('./price/measured.ts'),
    ])
    return withEngine(folder, 'price', measurePrice)
  },

  transfers: folder =>
    onStage(folder, 'transfers', async stage => {
      const { fillWallets, transferCases } = await import('./cases/transfer-cases.ts')
      await fillWallets(stage)
      const cases = transferCases(stage)
      const transfers = await measureLoads(stage, cases)
      return { figures: { transfers }, text: loadTable(cases, transfers) }
    }),

  async 'turns-transfers'(folder) {
    const { measureInTurns } = await import('./turns.ts')
    return measureInTurns(folder, 'transfers')
  },

  async 'turns-intents'(folder) {
    const { measureInTurns } = await import('./turns.ts')
    return measureInTurns(folder, 'intents')
  },

  async 'turns-approvals'(folder) {
    const { measureInTurns } = await import('./turns.ts')
    return measureInTurns(folder, 'approvals')
  },

  async 'turns-plain'(folder) {
    const { measureInTurns } = await import('./turns.ts')
    return measureInTurns(folder, 'plain')
  },

  async 'turns-machine'(folder) {
    const { measureInTurns } = await import('./turns.ts')
    return measureInTurns(folder, 'machine')
  },

  async plain(folder) {
    const { measurePlain } = await import('./plain.ts')
    return onStage(folder, 'plain', measurePlain)
  },

  async command(folder) {
    const { measureCommand } = await import('./starts/command.ts')
    return onStage(folder, 'command', measureCommand)
  },

  async decide() {
    const { measureDeciding } = await import('./deciding.ts')
    return measureDeciding()
  },

  async shared(folder) {
    const { measureShared } = await import('./shared-account.ts')
    return onStage(folder, 'shared', measureShared)
  },

  async backtest(folder) {
    const { measureBacktests } = await import('./backtests.ts')
    return measureBacktests(folder)
  },

  async relay(folder) {
    const [{ withEngine }, { measureRelay }] = await Promise.all([
      import('./temporal.ts'),
      import('./relay.ts'),
    ])
    return withEngine(folder, 'relay', measureRelay)
  },

  async webhooks(folder) {
    const { measureWebhooks } = await import('./webhooks.ts')
    return onStage(folder, 'webhooks', measureWebhooks)
  },

  async runs(folder) {
    const [{ withEngine }, { measureRuns }] = await Promise.all([
      import('./temporal.ts'),
      import('./run-times.ts'),
    ])
    return withEngine(folder, 'runs', measureRuns)
  },

  async dispatches(folder) {
    const [{ withEngine }, { measureDispatches }] = await Promise.all([
      import('./temporal.ts'),
      import('./dispatches/measured.ts'),
    ])
    return withEngine(folder, 'dispatches', measureDispatches)
  },

  async fairness(folder) {
    const [{ withEngine }, { measureFairness }] = await Promise.all([
      import('./temporal.ts'),
      import('./fairness.ts'),
    ])
    return withEngine(folder, 'fairness', measureFairness)
  },

  async tracing(folder) {
    const { measureTracing } = await import('./tracing.ts')
    return onStage(folder, 'tracing', measureTracing)
  },

  async cells(folder) {
    const { measureCells } = await import('./cells/measured.ts')
    return measureCells(folder)
  },

  async memory(folder) {
    const [{ withEngine }, { measureMemory }] = await Promise.all([
      import('./temporal.ts'),
      import('./memory.ts'),
    ])
    return withEngine(folder, 'memory', measureMemory)
  },

  async uploads(folder) {
    const { measureUploads } = await import('./uploads.ts')
    return onStage(folder, 'uploads', measureUploads)
  },

  async thumbnails() {
    const { measureThumbnails } = await import('./thumbnails.ts')
    return measureThumbnails()
  },

  async refunds(folder) {
    const { measureRefunds } = await import('./after-sale/refunds.ts')
    return onStage(folder, 'refunds', measureRefunds)
  },

  async bundle() {
    const { measureBundle } = await import('./after-sale/bundle.ts')
    return measureBundle()
  },

  async 'intents-beside'(folder) {
    const { measureBesideUploads } = await import('./after-sale/beside-uploads.ts')
    return onStage(folder, 'intents-beside', measureBesideUploads)
  },

  async neighbours(folder) {
    const { measureNeighbours } = await import('./neighbours/measured.ts')
    return onStage(folder, 'neighbours', measureNeighbours)
  },

  async streams(folder) {
    const { measureStreams } = await import('./streams/measured.ts')
    return onStage(folder, 'streams', measureStreams)
  },

  async mcp(folder) {
    const { measureAssistants } = await import('./assistants/measured.ts')
    return onStage(folder, 'mcp', measureAssistants)
  },

  async peers(folder) {
    const { measurePeers } = await import('./peers/measured.ts')
    return measurePeers(folder)
  },

  async 'peers-ledgers'(folder) {
    const { measurePeers } = await import('./peers/measured.ts')
    return measurePeers(folder, ['peers-ledgers'])
  },

  async 'peers-webhooks'(folder) {
    const { measurePeers } = await import('./peers/measured.ts')
    return measurePeers(folder, ['peers-webhooks'])
  },

  async 'peers-402'(folder) {
    const { measurePeers } = await import('./peers/measured.ts')
    return measurePeers(folder, ['peers-paying', 'peers-charging'])
  },

  async packages(folder) {
    const { measurePackages } = await import('./packages/measured.ts')
    return onStage(folder, 'packages', measurePackages)
  },

  async console(folder) {
    const { measureConsole } = await import('./console/measured.ts')
    return onStage(folder, 'console', measureConsole)
  },

  async statements(folder) {
    const { measureStatements } = await import('./statements.ts')
    return onStage(folder, 'statements', measureStatements)
  },

  async forecast() {
    const { measureForecast } = await import('./insight/forecast.ts')
    return measureForecast()
  },

  async insight(folder) {
    const { measureInsight } = await import('./insight/measured.ts')
    return measureInsight(folder)
  },

  async audit(folder) {
    const { measureAudit } = await import('./audit/measured.ts')
    return onStage(folder, 'audit', measureAudit)
  },

  async deletions(folder) {
    const { measureDeletions } = await import('./deletions/measured.ts')
    return onStage(folder, 'deletions', measureDeletions)
  },

  async archives(folder) {
    const { measureArchives } = await import('./deletions/archives.ts')
    return onStage(folder, 'archives', measureArchives)
  },

  async sizes(folder) {
    const { measureSizes } = await import('./sizes/measured.ts')
    return measureSizes(folder)
  },

  async soak(folder) {
    const [{ withEngine }, { measureSoak }] = await Promise.all([
      import('./temporal.ts'),
      import('./soak/measured.ts'),
    ])
    return withEngine(folder, 'soak', measureSoak)
  },
}

/**
 * Parts with large sizes take minutes and gigabytes, and `peers` builds other makers' programs; the others are parts of a
 * part that runs anyway.
 */
const BY_NAME =
  /^(?:mcp|fairness|neighbours|packages|deletions|archives|tracing|insight|cells|sizes|soak)$|^peers|^turns-|-(?:paid|received|beside)$/

export const defaultParts = Object.keys(parts).filter(name => !BY_NAME.test(name))
