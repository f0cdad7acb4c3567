import { runProcess } from '../../src/platform/lifetime.ts'
import { printLine } from '../../src/platform/output.ts'
import { openReport, type Report } from './drill/report.ts'
import { closeAll, discardFolder, ownFolder } from './own-folder.ts'

interface Rehearsal {
  /** The folder of this run, which stays if something failed. */
  readonly folder: string
  readonly report: Report
  closeLater(close: () => unknown): void
}

/** Runs a rehearsal as a process, prints its report, and ends with 1 if something failed. */
export function rehearse(name: string, work: (rehearsal: Rehearsal) => Promise<void>): void {
  runProcess(async life => {
    const report = openReport()
    const folder = await ownFolder(`agentpay-${name}-`)
    const closers: (() => unknown)[] = []
    life.closeLater(() => closeAll(closers))
    try {
      await work({ folder, report, closeLater: close => closers.push(close) })
    } catch (error) {
      report.check('the rehearsal came to its end', false, (error as Error).message)
    }
    await closeAll(closers)
    report.print()
    if (report.hasFailed) printLine(`What each program has said is in ${folder}.`)
    else await discardFolder(folder)
    life.end(report.hasFailed ? 1 : 0)
  })
}
