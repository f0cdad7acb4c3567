import type { Deed } from './deeds.ts'
import { type WhoActsStory, whoActsStories } from './stories.ts'

const columns = { healthy: 'all healthy', away: 'Temporal away', killed: 'worker killed' } as const

export type Column = keyof typeof columns

interface Entry {
  readonly story: WhoActsStory
  readonly deeds: readonly Deed[]
  readonly aheadMs: number
  readonly killedAt: number
}

/** Each step of the flows, and who has taken it. */
export class WhoActsTable {
  readonly #cells = new Map<string, string>()

  enter(column: Column, { story, deeds, aheadMs, killedAt }: Entry): void {
    for (const [activity, all] of Map.groupBy(deeds, ({ step }) => step.activity)) {
      const actors = Map.groupBy(all, ({ by }) => by)
      const counts = [...actors].map(([by, some]) => `${by} ${some.length}`).join(', ')
      this.#cells.set(
        keyOf(story, activity, column),
        counts + whenOf(column, { deeds: all, aheadMs, killedAt }),
      )
    }
  }

  markdown(): string {
    const heads = ['run', 'step', ...Object.values(columns)]
    const rows = whoActsStories.flatMap(story =>
      story.steps.map(({ activity }) => [
        `\`${story.flow}\``,
        `\`${activity}\``,
        ...Object.keys(columns).map(
          column => this.#cells.get(keyOf(story, activity, column as Column)) ?? '',
        ),
      ]),
    )
    return [heads, heads.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
  }
}

const keyOf = ({ steps }: WhoActsStory, activity: string, column: Column): string =>
  [...steps.map(step => step.activity), activity, column].join(' ')

function whenOf(column: Column, { deeds, aheadMs, killedAt }: Omit<Entry, 'story'>): string {
  if (column === 'healthy') return ''
  if (column === 'killed')
    return `, ${rangeOf(deeds.map(({ at, rescue }) => (rescue?.at.getTime() ?? at) - killedAt))} s after`
  const late = deeds.flatMap(({ rescue }) =>
    rescue ? [rescue.at.getTime() + aheadMs - rescue.dueAt.getTime()] : [],
  )
  return late.length > 0 ? `, ${rangeOf(late)} s late` : ''
}

/** In seconds, the least and the most. */
function rangeOf(milliseconds: readonly number[]): string {
  const ends = [Math.min(...milliseconds), Math.max(...milliseconds)].map(ms => (ms / 1_000).toFixed(0))
  return [...new Set(ends)].join('–')
}
