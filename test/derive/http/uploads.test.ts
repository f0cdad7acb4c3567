import './uploads/forms.ts'
import './uploads/files.ts'
