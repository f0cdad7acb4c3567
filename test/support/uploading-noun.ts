import { z } from 'zod'
import { area } from '../../src/kernel/contract/area.ts'
import { fileSchema } from '../../src/kernel/contract/file.ts'
import { bindHandlers, del, emptyBody, get, notFound, post } from '../../src/kernel/contract/operation.ts'
import { acceptForm, uploadSchema } from '../../src/kernel/contract/upload.ts'
import { referenceStoredFile, releaseStoredFiles } from '../../src/kernel/database/stored-files.ts'
import { id, newId } from '../../src/values/ids.ts'

/** A test noun: papers, each with a file, and a form as OAuth prescribes it. */
export const PAPER_TABLES = `
create table papers (owner_id text not null, mode text not null, id text primary key, sha256 text not null, title text not null);`

const Paper = z.object({
  id: id('paper'),
  title: z.string(),
  name: z.string().nullable(),
  declaredType: z.string().nullable(),
  kind: z.string(),
  size: z.int(),
  sha256: z.string(),
})

const PaperEvent = z.object({ paperId: id('paper') })
const paper_not_found = notFound('paper')

export const papersApi = {
  file: post('/papers', {
    summary: 'File a paper',
    callers: ['key'],
    scope: 'policies:write',
    body: z
      .strictObject({
        title: z.string().max(40),
        pages: z.int().min(1).max(100).optional(),
        authors: z.array(z.string().max(40)).max(5).optional(),
        paper: uploadSchema({ maxMib: 10, description: 'What is filed.' }),
      })
      .meta({ id: 'NewPaper' }),
    example: { title: 'A bill', paper: 'JVBERi0xLjQK' },
    returns: [201, Paper],
    fails: { paper_refused: [409, 'This title is taken.'] },
    emits: { 'paper.filed': PaperEvent },
  }),
  read: get('/papers/{id}', {
    summary: 'Read a paper',
    callers: ['key'],
    scope: 'policies:read',
    returns: [200, fileSchema('application/pdf')],
    fails: { paper_not_found },
  }),
  remove: del('/papers/{id}', {
    summary: 'Remove a paper',
    callers: ['key'],
    scope: 'policies:write',
    returns: [204, emptyBody],
    fails: { paper_not_found },
    emits: { 'paper.removed': PaperEvent },
  }),
  grant: post('/papers/grant', {
    summary: 'Ask for what was granted',
    callers: ['public'],
    body: acceptForm(
      z.strictObject({ grant_type: z.string().max(60), device_code: z.string().max(40).optional() }),
    ),
    example: { grant_type: 'device' },
    returns: [200, z.object({ grant_type: z.string(), device_code: z.string().nullable() })],
    run: 'read',
  }),
}

const FIND = 'select sha256, title from papers where owner_id = $1 and mode = $2 and id = $3'

export const papersArea = area(
  'Papers',
  'Files of the tests.',
  bindHandlers(papersApi, {
    async file({ body: { title, paper } }, context) {
      const { tenant, sql, emit, refuse } = context
      const paperId = newId('paper')
      if (title === 'taken') return refuse('paper_refused')
      await referenceStoredFile(paper, paperId, context)
      const values = [tenant.ownerId, tenant.mode, paperId, paper.sha256, title]
      await sql('insert into papers values ($1, $2, $3, $4, $5)', values)
      if (title === 'defect') throw new Error('a defect after the file was kept')
      emit('paper.filed', { paperId })
      const { name, declaredType, kind, size, sha256 } = paper
      return { id: paperId, title, name, declaredType, kind, size, sha256 }
    },
    async read({ params }, { tenant, sql, refuse, systems }) {
      const [paper] = await sql<{ sha256: string; title: string }>(FIND, [
        tenant.ownerId,
        tenant.mode,
        params.id,
      ])
      const opened = paper && (await systems.files.open(tenant, paper.sha256))
      if (!opened) return refuse('paper_not_found')
      return { type: 'application/pdf', name: paper.title, content: opened.content }
    },
    async remove({ params }, context) {
      const { tenant, sql, refuse, emit } = context
      const [paper] = await sql<{ sha256: string }>(FIND, [tenant.ownerId, tenant.mode, params.id])
      if (!paper) return refuse('paper_not_found')
      await sql('delete from papers where id = $1', [params.id])
      await releaseStoredFiles([paper.sha256], params.id, context)
      emit('paper.removed', { paperId: params.id })
    },
    grant: ({ body: { grant_type, device_code = null } }) => ({ grant_type, device_code }),
  }),
)
