import type { CommandContext, CustomCommand } from '../context.ts'
import { exitCodes } from '../io.ts'

const SIGNS = { good: '✓', doubtful: '!', bad: '✗' } as const

export const doctorCommand: CustomCommand = {
  name: 'doctor',
  summary: 'Check the setup: clock, address, key, version, Temporal',
  description:
    'Reports each check, with a remedy for problems. Exits with 0 if there are none, otherwise with 1.',
  async run(context) {
    const { diagnoseSetup: diagnose } = await import('../sign-in/diagnose.ts')
    const findings = await diagnose(context)
    if (context.asJson) context.print(findings)
    else for (const finding of findings) printFinding(finding, context)
    return findings.some(({ state }) => state === 'bad') ? exitCodes.refused : exitCodes.done
  },
}

type Finding = Awaited<ReturnType<typeof import('../sign-in/diagnose.ts').diagnoseSetup>>[number]

function printFinding({ about, state, found, remedy }: Finding, { say }: Pick<CommandContext, 'say'>): void {
  say(`${SIGNS[state]} ${about}: ${found}`)
  if (remedy !== null) say(`    ${remedy}`)
}
