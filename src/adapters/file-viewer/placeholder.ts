import { createRequire } from 'node:module'
import { createCanvas, GlobalFonts } from '@napi-rs/canvas'
import sharp from 'sharp'
import type { FilePreview } from '../../ports/viewer.ts'
import { LARGE_PREVIEW_PX, renderPreviews } from './picture.ts'

const FONT = 'DejaVu Sans'
const WIDTH = 848

export async function placeholderPreviews(
  pages: number | null,
): Promise<Pick<FilePreview, 'small' | 'large'>> {
  GlobalFonts.registerFromPath(
    createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    FONT,
  )
  const canvas = createCanvas(WIDTH, LARGE_PREVIEW_PX)
  const sheet = canvas.getContext('2d')
  sheet.fillStyle = '#fff'
  sheet.fillRect(0, 0, WIDTH, LARGE_PREVIEW_PX)
  sheet.strokeStyle = '#999'
  sheet.lineWidth = 8
  sheet.strokeRect(4, 4, WIDTH - 8, LARGE_PREVIEW_PX - 8)
  sheet.fillStyle = '#333'
  sheet.textAlign = 'center'
  sheet.font = `160px "${FONT}"`
  sheet.fillText('PDF', WIDTH / 2, LARGE_PREVIEW_PX / 2)
  sheet.font = `72px "${FONT}"`
  if (pages !== null)
    sheet.fillText(`${pages} ${pages === 1 ? 'page' : 'pages'}`, WIDTH / 2, LARGE_PREVIEW_PX / 2 + 140)
  return renderPreviews(
    sharp(canvas.data(), { raw: { width: WIDTH, height: LARGE_PREVIEW_PX, channels: 4 } }),
  )
}
