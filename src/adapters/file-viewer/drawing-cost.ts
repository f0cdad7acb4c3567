import { createCanvas, Path2D } from '@napi-rs/canvas'

/** What one document may draw: strokes, fills, texts, pictures and the segments of paths. An honest page has some thousands. */
const MOST_DRAWN = 30_000
/** Processor time that reading and drawing one document may take. */
const MOST_CPU_MS = 1_500
const MEASURE_EVERY = 16

const OPERATORS = {
  context: ['stroke', 'fill', 'clip', 'fillRect', 'fillText', 'strokeText', 'drawImage', 'putImageData'],
  path: ['lineTo', 'bezierCurveTo', 'quadraticCurveTo', 'rect', 'arc', 'ellipse', 'addPath'],
} as const

let isBounded = false
let drawn = 0
let cpuAtStart = process.cpuUsage()

/** Bounds what this work draws: the process looks at one document after the other. */
export async function withinCost<T>(work: () => Promise<T>): Promise<T> {
  isBounded = true
  drawn = 0
  cpuAtStart = process.cpuUsage()
  try {
    return await work()
  } finally {
    isBounded = false
  }
}

/** Whether the document has used up its processor time. */
export function isTooExpensive(): boolean {
  const { user, system } = process.cpuUsage(cpuAtStart)
  return (user + system) / 1_000 > MOST_CPU_MS
}

/** Throws inside the drawing that goes too far: pdf.js ends it, and reads no further. */
function count(): void {
  if (!isBounded) return
  drawn++
  if (drawn > MOST_DRAWN || (drawn % MEASURE_EVERY === 0 && isTooExpensive()))
    throw new Error('the page is too expensive to draw')
}

type Draw = (...args: unknown[]) => unknown

function counted(prototype: object, names: readonly string[]): void {
  for (const name of names) {
    const draw: Draw = Reflect.get(prototype, name)
    Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
      count()
      return draw.apply(this, args)
    })
  }
}

counted(Object.getPrototypeOf(createCanvas(1, 1).getContext('2d')), OPERATORS.context)
counted(Path2D.prototype, OPERATORS.path)
