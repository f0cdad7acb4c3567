import type { Context, CustomCommand } from '../context.ts'
import { exitCodes } from '../io.ts'

const SIGNS = { good: '✓', doubtful: '!', bad: '✗' } as const

export const doctor: CustomCommand = {
  name: 'doctor',
  summary: 'Look for what is wrong: clock, address, key, version, Temporal',
  description:
    'Says of each what was found, and what to do where something is wrong. Ends with 0 where nothing is, else with 1.',
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
