import pg from 'pg'

export interface RecordedErasure {
  readonly id: string
  readonly ownerId: string
  readonly mode: string
  readonly subject: { readonly type: string; readonly id: string }
  readonly beginsAt: string
  readonly completedAt: string | null
}

export interface ReappliedErasure {
  readonly id: string
  readonly outcome: 'again' | 'open' | 'completed' | 'unknown' | 'failed'
  readonly reason?: string
}

const REAPPLY = 'select reapply_deletion($1, $2, $3, $4, $5, $6, $7) as outcome'

/**
 * Repeats deletions after a backup was restored. It runs as the role that owns the tables, since the
 * service's role may not delete there. Each is one transaction and safe to repeat.
 */
export async function reapplyDeletions(
  url: string,
  erasures: readonly RecordedErasure[],
): Promise<ReappliedErasure[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    const done: ReappliedErasure[] = []
    for (const { id, ownerId, mode, subject, beginsAt, completedAt } of erasures) {
      const values = [ownerId, mode, id, subject.type, subject.id, beginsAt, completedAt]
      const answer = await client.query(REAPPLY, values).catch((error: Error) => error)
      done.push(
        answer instanceof Error
          ? { id, outcome: 'failed', reason: answer.message }
          : { id, outcome: answer.rows[0].outcome },
      )
    }
    return done
  } finally {
    await client.end()
  }
}
