import type { Ask, Told } from './messages.ts'
import { viewPicture } from './picture.ts'

/** The entry point of the process that renders files, one after the other, until its parent ends. */
const tell = (told: Told): void => void process.send?.(told)

process.on('message', (ask: Ask) => {
  void answer(ask).then(tell, error => tell({ problem: String((error as Error).message) }))
})
process.on('disconnect', () => process.exit())

async function answer(ask: Ask): Promise<Told> {
  if ('plain' in ask) {
    const { plainPictures } = await import('./plain.ts')
    return { pictures: await plainPictures(ask.plain.pages) }
  }
  if (ask.kind !== 'application/pdf') return viewPicture(ask.bytes, ask.kind)
  const { viewDocument } = await import('./document.ts')
  return viewDocument(ask.bytes, facts => tell({ facts }))
}
