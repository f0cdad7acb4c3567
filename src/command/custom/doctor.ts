import type { Context, CustomCommand } from '../context.ts'
import { exitCodes } from '../io.ts'

const SIGNS = { good: '✓', doubtful: '!', bad: '✗' } as const

export const doctor: CustomCommand = {
  name: 'doctor',
  summary: 'Check the setup: clock, address, key, version, Temporal',
  description:
    'Reports each check, with a remedy for problems. Exits with 0 if there are none, otherwise with 1.',
  async run(context) {
    const { diagnose } = await import('../sign-in/diagnose.ts')
    const findings = await diagnose(context)
    if (context.asJson) context.print(findings)
    else for (const finding of findings) printFinding(finding, context)
    return findings.some(({ state }) => state === 'bad') ? exitCodes.refused : exitCodes.done
  },
}

type Finding = Awaited<ReturnType<typeof import('../sign-in/diagnose.ts').diagnose>>[number]

function printFinding({ about, state, found, remedy }: Finding, { say }: Pick<Context, 'say'>): void {
  say(`${SIGNS[state]} ${about}: ${found}`)
  if (remedy !== null) say(`    ${remedy}`)
}
