import { addMs, clock } from '../../../src/values/clock.ts'
import { bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

const HOUR = 3_600_000
export const ago = (hours: number): string => addMs(clock.real(), -hours * HOUR).toISOString()

export const CRITERIA = {
  criticalServices: true,
  clientsAffected: 1_200,
  clientsOfService: 9_000,
  downtimeMinutes: 190,
}
export const person = { decidedBy: 'Ada Lovelace', reasons: 'Cards were down.' }

type Covered = 'initial' | 'intermediate'

export function incidentDesk({ dash, sql }: Pick<TestService, 'dash' | 'sql'>) {
  const { securityIncidents: incidents } = dash
  const submit = (id: string, stage: string, hours: number, covers: Covered[] = []) =>
    incidents.submit({ params: { id, stage }, body: { at: ago(hours), reference: `B-${stage}`, covers } })
  return {
    incidents,
    submit,
    submitted: (id: string, stage: string, hours: number, covers: Covered[] = []) =>
      bodyOf(submit(id, stage, hours, covers)),

    open: (members: object = {}) =>
      bodyOf(
        incidents.create({
          body: {
            severity: 'high',
            category: 'system_failure',
            detectedAt: ago(3),
            description: 'Cards were declined.',
            ...members,
          },
        }),
      ),

    classify: (id: string, isMajor = true, at?: string) =>
      bodyOf(
        incidents.classify({
          params: { id },
          body: { criteria: CRITERIA, decision: { isMajor, ...person, ...(at && { at }) } },
        }),
      ),

    async eventsOf(id: string) {
      const rows = await sql<{
        event: string
        data: Record<string, unknown>
        owner_id: string
        mode: string
      }>(`select event, data, owner_id, mode from events where data ->> 'incidentId' = $1 order by id`, [id])
      return rows.map(({ event, data, owner_id, mode }) => ({ event, data, owner: `${owner_id} ${mode}` }))
    },
  }
}

export const codeOf = async (answer: Promise<{ headers: { get(name: string): string | null } }>) =>
  (await answer).headers.get('x-error-code')
