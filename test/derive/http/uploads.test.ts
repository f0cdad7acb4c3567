import './uploads/bad-files.ts'
import './uploads/files.ts'
import './uploads/forms.ts'
import './uploads/sweeping.ts'
