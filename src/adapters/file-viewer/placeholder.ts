import { createRequire } from 'node:module'
import { createCanvas, GlobalFonts } from '@napi-rs/canvas'
import sharp from 'sharp'
import type { View } from '../../ports/viewer.ts'
import { LARGE, picturesOf } from './picture.ts'

const FONT = 'DejaVu Sans'
const WIDTH = 848

export async function placeholderPictures(pages: number | null): Promise<Pick<View, 'small' | 'large'>> {
  GlobalFonts.registerFromPath(
    createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    FONT,
  )
  const canvas = createCanvas(WIDTH, LARGE)
  const sheet = canvas.getContext('2d')
  sheet.fillStyle = '#fff'
  sheet.fillRect(0, 0, WIDTH, LARGE)
  sheet.strokeStyle = '#999'
  sheet.lineWidth = 8
  sheet.strokeRect(4, 4, WIDTH - 8, LARGE - 8)
  sheet.fillStyle = '#333'
  sheet.textAlign = 'center'
  sheet.font = `160px "${FONT}"`
  sheet.fillText('PDF', WIDTH / 2, LARGE / 2)
  sheet.font = `72px "${FONT}"`
  if (pages !== null) sheet.fillText(`${pages} ${pages === 1 ? 'page' : 'pages'}`, WIDTH / 2, LARGE / 2 + 140)
  return picturesOf(sharp(canvas.data(), { raw: { width: WIDTH, height: LARGE, channels: 4 } }))
}
